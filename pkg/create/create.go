// Package create makes a Workflow once: what the same key has made is found
// again, and a name that something else has is a conflict.
package create

import (
	"context"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what is done on the cluster.
type Cluster interface {
	CreateWorkflow(ctx context.Context, workflow *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error)
	Workflow(ctx context.Context, name string) ([]byte, error)
}

// Once makes a Workflow that carries its key, and gives it as the API server
// has it; or gives the one that the same key has made before.
func Once(ctx context.Context, on Cluster, workflow *wfv1.Workflow, dryRun bool) (created *wfv1.Workflow, present *status.Workflow, err error) {
	created, err = on.CreateWorkflow(ctx, workflow, dryRun)
	if fault.KindOf(err) == fault.Conflict {
		present, err = existing(ctx, on, workflow, err)
		return nil, present, err
	}
	return created, nil, err
}

// existing tells a redelivery from a name that something else has.
func existing(ctx context.Context, on Cluster, workflow *wfv1.Workflow, conflict error) (*status.Workflow, error) {
	raw, err := on.Workflow(ctx, workflow.Name)
	if fault.KindOf(err) == fault.NotFound {
		// Refused for another reason, such as a quota; or deleted just now.
		return nil, conflict
	}
	if err != nil {
		return nil, err
	}
	present, err := status.Decode(raw)
	if err != nil {
		return nil, fault.Wrap(fault.Conflict, err, "the name %s is taken by a Workflow that cannot be read: %v", workflow.Name, err)
	}
	if key := workflow.Annotations[argo.KeyAnnotation]; key == "" || present.Metadata.Annotations[argo.KeyAnnotation] != key {
		return nil, fault.New(fault.Conflict, "the name %s is taken by something else: give the run another id, or delete the Workflow of that name", workflow.Name)
	}
	return present, nil
}
