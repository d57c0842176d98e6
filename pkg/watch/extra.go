package watch

import (
	"context"
	"errors"
	"log/slog"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/fault"
)

// Helping gives the split tasks of a run the helpers that they ask for.
type Helping interface {
	Begin(ctx context.Context, run string) error
}

// Shutdown ends Workflows.
type Shutdown interface {
	ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error
}

// helpers gives split tasks their helpers when they begin, and takes them back
// when their workers are done, or their run has ended: they only help, and would
// hold quota for nobody. It looks at the present state only, and doing it again
// is harmless: so a leader need not have seen what happened before it.
type helpers struct {
	cache    Cache
	helping  Helping
	shutdown Shutdown
	log      *slog.Logger
}

// helpedRun names the run whose helpers a change of a Workflow may concern;
// empty: none.
func helpedRun(w *workflow) string {
	if run := w.Labels[argo.ExtraOfLabel]; run != "" {
		return run
	}
	for _, allowed := range argo.Helpers(w.state().Metadata.Annotations) {
		if allowed > 0 {
			return w.Name
		}
	}
	return ""
}

// look does what the present state of a run asks for.
func (h helpers) look(ctx context.Context, run string) error {
	w := h.cache.Workflow(run)
	if w == nil || w.fault != nil {
		return nil // the cluster deletes the helpers of a run that was deleted
	}
	tasks := extra.TasksOf(w.state())
	var failed error
	if len(tasks.Due()) > 0 {
		if failed = h.helping.Begin(ctx, run); failed == nil {
			h.log.Info("helpers are added: their task has begun", "run", run)
		}
	}
	for _, helper := range h.cache.Helpers(run) {
		if tasks.Over(helper.Labels[argo.TaskLabel]) {
			failed = errors.Join(failed, h.takeBack(ctx, helper))
		}
	}
	return failed
}

// takeBack terminates a helper that has not ended.
func (h helpers) takeBack(ctx context.Context, helper *workflow) error {
	if helper.Labels[argo.CompletedLabel] == "true" || helper.state().Spec.Shutdown != "" {
		return nil
	}
	err := h.shutdown.ShutdownWorkflow(ctx, helper.Name, wfv1.ShutdownStrategyTerminate)
	if fault.KindOf(err) == fault.NotFound {
		return nil // deleted meanwhile
	}
	if err == nil {
		h.log.Info("a helper is taken back", "run", helper.Labels[argo.ExtraOfLabel], "helper", helper.Name)
	}
	return err
}
