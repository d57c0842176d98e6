package extra

import (
	"context"
	"encoding/json"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/strict"
)

// again is how often it is looked whether a name has become free.
const again = 250 * time.Millisecond

// stop terminates a helper.
func (h Helping) stop(ctx context.Context, name string) error {
	err := h.cluster.ShutdownWorkflow(ctx, name, wfv1.ShutdownStrategyTerminate)
	if fault.KindOf(err) == fault.NotFound {
		return nil // deleted meanwhile: there is nothing left to stop
	}
	return err
}

// create makes helpers, and tells how many it had the time for.
func (h Helping) create(ctx context.Context, run *status.Workflow, task string, numbers []int, had map[int]*status.Workflow) (made int, err error) {
	parent, err := h.parent(ctx, run)
	if err != nil {
		return 0, err
	}
	remaining, err := h.remaining(parent)
	if err != nil {
		return 0, err
	}
	class := h.priorities[parent.Annotations[argo.PriorityAnnotation]].Extra
	within, cancel := context.WithTimeout(ctx, limits.HelperTime)
	defer cancel()
	for _, n := range numbers {
		helper, err := argo.Extra(parent, task, n, remaining, class)
		if err != nil {
			return made, err
		}
		done, err := h.createOne(within, helper, had[n])
		if err != nil && within.Err() == nil {
			return made, err
		}
		if !done {
			break // there was no time for it
		}
		made++
	}
	return made, h.unlessEnded(ctx, run, task, numbers[:made])
}

// createOne makes a helper. The name of one that was stopped becomes free when
// its pods have gone, which may take longer than a call has.
func (h Helping) createOne(ctx context.Context, helper *wfv1.Workflow, before *status.Workflow) (done bool, err error) {
	if before != nil {
		if err := h.cluster.DeleteWorkflow(ctx, before.Metadata.Name, before.Metadata.UID); err != nil && fault.KindOf(err) != fault.NotFound {
			return false, err
		}
	}
	for {
		_, err := h.cluster.CreateWorkflow(ctx, helper, false)
		if fault.KindOf(err) != fault.Conflict {
			return err == nil, err
		}
		// The same call at the same time has made it; or the name is still taken.
		there, err := h.made(ctx, helper, before, err)
		if there || err != nil {
			return there, err
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(again):
		}
	}
}

// made reports whether somebody else has made the helper. A conflict that is
// no taken name, such as a quota, is told.
func (h Helping) made(ctx context.Context, helper *wfv1.Workflow, before *status.Workflow, conflict error) (bool, error) {
	raw, err := h.cluster.Workflow(ctx, helper.Name)
	if fault.KindOf(err) == fault.NotFound {
		if before == nil {
			return false, conflict
		}
		return false, nil // it has gone just now
	}
	if err != nil {
		return false, err
	}
	present, err := status.Decode(raw)
	if err != nil || present.Metadata.Labels[argo.ExtraOfLabel] != helper.Labels[argo.ExtraOfLabel] {
		return false, fault.New(fault.Conflict, "the name %s is taken by a Workflow that is no helper of the run", helper.Name)
	}
	return before == nil || present.Metadata.UID != before.Metadata.UID, nil
}

// parent reads the run's Workflow with all that a helper is made of.
func (h Helping) parent(ctx context.Context, run *status.Workflow) (*wfv1.Workflow, error) {
	raw, err := h.cluster.Workflow(ctx, run.Metadata.Name)
	if err != nil {
		return nil, err
	}
	parent := &wfv1.Workflow{}
	if err = strict.Decodable(raw); err == nil {
		err = json.Unmarshal(raw, parent)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Conflict, err, "the Workflow of run %s cannot be read: %v", run.Metadata.Name, err)
	}
	if string(parent.UID) != run.Metadata.UID {
		return nil, fault.New(fault.Conflict, "the run %s was replaced by another one at the same time", run.Metadata.Name)
	}
	// An owner reference needs a kind; the API server names it in single objects.
	parent.TypeMeta.Kind, parent.APIVersion = "Workflow", wfv1.SchemeGroupVersion.String()
	return parent, nil
}

// remaining is what is left of the run's deadline; 0: it has none.
func (h Helping) remaining(parent *wfv1.Workflow) (time.Duration, error) {
	if parent.Spec.ActiveDeadlineSeconds == nil {
		return 0, nil
	}
	ends := parent.Status.StartedAt.Add(time.Duration(*parent.Spec.ActiveDeadlineSeconds) * time.Second)
	if left := ends.Sub(h.now()); left > 0 {
		return left, nil
	}
	return 0, fault.New(fault.Conflict, "the run %s is past its deadline", parent.Name)
}

// unlessEnded looks whether the run was ended while its helpers were made: who
// ended it has not seen them, and they would outlive it.
func (h Helping) unlessEnded(ctx context.Context, run *status.Workflow, task string, numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	raw, err := h.cluster.Workflow(ctx, run.Metadata.Name)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	now, err := status.Decode(raw)
	if err == nil && now.Metadata.UID == run.Metadata.UID && now.Spec.Shutdown == "" && now.Status.FinishedAt.IsZero() {
		return nil
	}
	for _, n := range numbers {
		if err := h.stop(ctx, helperName(run, task, n)); err != nil {
			return err
		}
	}
	return fault.New(fault.Conflict, "the run %s was ended at the same time", run.Metadata.Name)
}
