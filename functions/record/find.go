package record

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/status"
)

// workflowOf finds the Workflow of a pod, and the node that the pod is of: nil,
// where the pod is there and Argo has not come to write of it. What the caller
// may not see is answered like what is not there.
func (r recorder) workflowOf(ctx context.Context, caller function.Caller, name string, there *corev1.Pod) (*status.Workflow, *status.Node, error) {
	pod := there
	if there == nil {
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, candidate := range candidates(name, there) {
		workflow, err := r.find.Workflow(ctx, caller, candidate)
		switch fault.KindOf(err) {
		case "":
		case fault.Unavailable:
			return nil, nil, err
		default:
			continue // not this one
		}
		node := workflow.NodeOf(pod)
		if node != nil || there != nil && evidence.WorkflowUID(there) == workflow.Metadata.UID {
			return workflow, node, nil
		}
	}
	return nil, nil, fault.New(fault.NotFound, "no run has or had a pod %s", name)
}

// candidates are the Workflows that a pod may be of. One that is there says it
// itself; of one that is gone, Argo has begun the name with the Workflow's.
func candidates(name string, there *corev1.Pod) []string {
	if there != nil {
		return []string{there.Labels[cause.WorkflowLabel]}
	}
	all := []string{name} // a Workflow that is one pod
	for {
		end := strings.LastIndexByte(name, '-')
		if end < 0 {
			return all
		}
		name = name[:end]
		all = append(all, name)
	}
}
