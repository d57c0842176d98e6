// Package lookup finds a run and its helpers as a caller may see them.
package lookup

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what is read.
type Cluster interface {
	Workflow(ctx context.Context, name string) ([]byte, error)
	Workflows(ctx context.Context, labels map[string]string) ([]byte, error)
}

// Finder finds runs by the rules of `cluster.foreign`.
type Finder struct {
	Cluster Cluster
	Foreign owner.Foreign
}

// Run gives a run that the caller may see; any other does not exist.
func (f Finder) Run(ctx context.Context, caller function.Caller, name string) (*status.Workflow, error) {
	workflow, err := f.Workflow(ctx, caller, name)
	if err != nil {
		return nil, err
	}
	if err := f.MaySee(caller, workflow); err != nil {
		return nil, err
	}
	return workflow, nil
}

// Workflow gives a run, or a helper of one, that the caller may see.
func (f Finder) Workflow(ctx context.Context, caller function.Caller, name string) (*status.Workflow, error) {
	var mistakes fault.List
	CheckName(name, &mistakes)
	if err := mistakes.Err(fault.Invalid, "the request is not valid"); err != nil {
		return nil, err
	}
	raw, err := f.Cluster.Workflow(ctx, name)
	if err != nil {
		return nil, err
	}
	workflow, err := decode(raw, name)
	if err != nil {
		return nil, err
	}
	if !owner.MaySee(caller, ownership(workflow), f.Foreign) {
		return nil, unknown(name)
	}
	return workflow, nil
}

// MaySee says whether a Workflow that was read is a run that the caller may see.
func (f Finder) MaySee(caller function.Caller, workflow *status.Workflow) error {
	if !owner.MaySee(caller, ownership(workflow), f.Foreign) || workflow.Metadata.Labels[argo.ExtraOfLabel] != "" {
		return unknown(workflow.Metadata.Name)
	}
	return nil
}

func unknown(name string) error { return fault.New(fault.NotFound, "run %s does not exist", name) }

// RunToChange gives a run that the caller may change.
func (f Finder) RunToChange(ctx context.Context, caller function.Caller, name string) (*status.Workflow, error) {
	workflow, err := f.Run(ctx, caller, name)
	if err != nil {
		return nil, err
	}
	if !owner.MayChange(caller, ownership(workflow), f.Foreign) {
		return nil, fault.New(fault.Forbidden, "run %s is a Workflow that runhook did not make: cluster.foreign of the config lets it be read only", name)
	}
	return workflow, nil
}

// Helpers gives the Workflows of a run's helpers. A foreign Workflow has none.
func (f Finder) Helpers(ctx context.Context, run *status.Workflow) ([]*status.Workflow, error) {
	if !owner.Ours(run.Metadata.Labels) {
		return nil, nil
	}
	name := run.Metadata.Name
	raw, err := f.Cluster.Workflows(ctx, map[string]string{argo.ExtraOfLabel: name})
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the cluster's list of the helpers of %s does not decode", name)
	}
	helpers := make([]*status.Workflow, 0, len(list.Items))
	for _, item := range list.Items {
		helper, err := decode(item, name)
		if err != nil {
			return nil, err
		}
		helpers = append(helpers, helper)
	}
	return helpers, nil
}

// decode reads what the cluster holds. That it does not decode is no mistake
// of the caller's.
func decode(raw []byte, name string) (*status.Workflow, error) {
	workflow, err := status.Decode(raw)
	if err != nil {
		return nil, fault.Wrap(fault.Conflict, err, "the Workflow of run %s cannot be read: %v", name, err)
	}
	return workflow, nil
}

func ownership(w *status.Workflow) owner.Run {
	return owner.Run{Labels: w.Metadata.Labels, Annotations: w.Metadata.Annotations}
}

// CheckName keeps what is no name of a Workflow from becoming part of a URL.
// Functions whose requests have more fields call it with their other mistakes.
// Foreign Workflows may have longer names than runs.
func CheckName(name string, mistakes *fault.List) {
	switch {
	case name == "":
		mistakes.Add("run", "the name of a run is needed")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		mistakes.Add("run", "not the name of a run: a-z, 0-9, - and . are allowed, at most 253")
	}
}
