package reserve

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// Permit reports whether a caller may keep a node for a run or give it back.
// A run that does not exist yet is nobody's.
func Permit(ctx context.Context, cluster Cluster, settings Settings, caller function.Caller, node, run string) error {
	if !caller.MaySchedule() {
		return fault.New(fault.Forbidden, "reservations need the right `scheduling`")
	}
	if err := CheckNames(node, run); err != nil {
		return err
	}
	if nobodys := (owner.Run{}); owner.MaySee(caller, nobodys, settings.Foreign) {
		return nil
	}
	workflow, err := cluster.WorkflowMetadata(ctx, run)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if !owner.MaySee(caller, owner.Run{Labels: workflow.Labels, Annotations: workflow.Annotations}, settings.Foreign) {
		return fault.New(fault.NotFound, "run %s does not exist", run)
	}
	return nil
}

// CheckNames tells every name that neither a node or Workflow nor the value of
// a label can have.
func CheckNames(node, run string) error {
	var mistakes fault.List
	for _, wrong := range validation.IsDNS1123Subdomain(node) {
		mistakes.Add("node", "not the name of a node: %s", wrong)
	}
	wrong := validation.IsDNS1123Subdomain(run)
	if len(wrong) == 0 {
		wrong = validation.IsValidLabelValue(run)
	}
	for _, w := range wrong {
		mistakes.Add("run", "not the id of a run that a node can be kept for: %s", w)
	}
	return mistakes.Err(fault.Invalid, "not what can be reserved")
}
