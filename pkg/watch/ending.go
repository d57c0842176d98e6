package watch

import (
	"context"
	"errors"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
)

// Shutdown ends Workflows.
type Shutdown interface {
	ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error
}

// endHelpers terminates the helpers of runs that have ended: they only help,
// and would hold quota for nobody. cancel and stop do it themselves; this is
// for a run that ends by itself. Doing it again is harmless.
func (t *tracker) endHelpers(ctx context.Context, ended func(run string) bool) error {
	var failed error
	for _, w := range t.cache.Workflows() {
		run := w.Labels[argo.ExtraOfLabel]
		if run == "" || w.Labels[argo.CompletedLabel] == "true" || w.state().Spec.Shutdown != "" || !ended(run) {
			continue
		}
		err := t.shutdown.ShutdownWorkflow(ctx, w.Name, wfv1.ShutdownStrategyTerminate)
		if fault.KindOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		failed = errors.Join(failed, err)
		if err == nil {
			t.log.Info("a helper is ended: its run has ended", "run", run, "helper", w.Name)
		}
	}
	return failed
}
