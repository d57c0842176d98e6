package status

import (
	"context"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// snapshot is a run as it was read at one moment.
type snapshot struct {
	run    *status.Workflow
	status status.Status
}

// watched is a run to watch. Those of others have other labels.
type watched struct {
	run     string
	foreign bool
}

func watchedOf(run *status.Workflow) watched {
	return watched{run.Metadata.Name, !owner.Ours(run.Metadata.Labels)}
}

// pods selects the pods of a run with those of its helpers. Pods of foreign
// Workflows have Argo's label only.
func (w watched) pods() map[string]string {
	if w.foreign {
		return map[string]string{cause.WorkflowLabel: w.run}
	}
	return map[string]string{argo.RunLabel: w.run}
}

// workflows selects a run with its helpers; a foreign one has none.
func (w watched) workflows() map[string]string {
	if w.foreign {
		return nil
	}
	return map[string]string{argo.RunLabel: w.run}
}

// source reads and watches runs for all who wait.
type source struct {
	cluster Cluster
	find    lookup.Finder
}

// Watch signals changes of a run, its helpers and its pods.
func (s source) Watch(ctx context.Context, run watched) (<-chan struct{}, error) {
	return s.cluster.WatchRun(ctx, run.run, run.workflows(), run.pods())
}

// Read gives a run to everybody: each caller's right to see it is looked at
// where it is shown.
func (s source) Read(ctx context.Context, run watched) (snapshot, error) {
	workflow, err := s.find.Run(ctx, function.Caller{Everything: true}, run.run)
	if err != nil {
		return snapshot{}, err
	}
	return s.around(ctx, workflow)
}

// around reads what belongs to a run.
func (s source) around(ctx context.Context, run *status.Workflow) (snapshot, error) {
	helpers, err := s.find.Helpers(ctx, run)
	if err != nil {
		return snapshot{}, err
	}
	pods, err := s.cluster.Pods(ctx, watchedOf(run).pods())
	if err != nil {
		return snapshot{}, err
	}
	return snapshot{run, status.Of(run, helpers, pods)}, nil
}
