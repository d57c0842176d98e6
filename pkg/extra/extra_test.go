package extra

import (
	"testing"
	"testing/synctest"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/extra/extratest"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// set asks for helpers half an hour after the run has started.
func set(t *testing.T, on *extratest.Cluster, workers int) (Result, error) {
	t.Helper()
	raw, err := on.Workflow(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	run, err := status.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return helping(on).Set(t.Context(), run, "fit", workers)
}

func helping(on *extratest.Cluster) Helping {
	return New(on, extratest.Priorities, func() time.Time { return extratest.Started.Add(30 * time.Minute) })
}

func TestRaiseAndLower(t *testing.T) {
	on := extratest.New(t)
	for i, step := range []struct {
		workers int
		done    []string
	}{
		{0, nil},
		{1, []string{"create a-extra-fit-0"}},
		{1, nil},
		{2, []string{"create a-extra-fit-1"}},
		{1, []string{"Terminate a-extra-fit-1"}},
		{1, nil},
		{2, []string{"delete a-extra-fit-1", "create a-extra-fit-1"}},
		{0, []string{"Terminate a-extra-fit-1", "Terminate a-extra-fit-0"}},
		{2, []string{"delete a-extra-fit-0", "create a-extra-fit-0", "delete a-extra-fit-1", "create a-extra-fit-1"}},
	} {
		got, err := set(t, on, step.workers)
		if err != nil {
			t.Fatal(err)
		}
		want := Result{Workers: step.workers, Changed: step.done != nil}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
		if diff := cmp.Diff(step.done, on.TakeDone()); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	if len(on.All["a"].Spec.Shutdown) > 0 {
		t.Error("the run itself was ended")
	}
}

func TestHelperIsTheRunsAndLessUrgent(t *testing.T) {
	on := extratest.New(t)
	if _, err := set(t, on, 1); err != nil {
		t.Fatal(err)
	}
	helper := on.All["a-extra-fit-0"]
	if class := helper.Spec.PodMetadata.Labels["kueue.x-k8s.io/priority-class"]; class != "high-extra" {
		t.Errorf("its class is %s", class)
	}
	if left := time.Duration(*helper.Spec.ActiveDeadlineSeconds) * time.Second; left != 90*time.Minute {
		t.Errorf("its deadline is %s, want what remains of two hours", left)
	}
	owners := helper.OwnerReferences
	if len(owners) != 1 || owners[0].UID != "run-uid" || owners[0].Kind != "Workflow" || owners[0].APIVersion != "argoproj.io/v1alpha1" {
		t.Errorf("it is owned by %+v", owners)
	}
	if helper.Annotations[owner.Annotation] != "ci" {
		t.Errorf("it is of %s", helper.Annotations[owner.Annotation])
	}
}

func TestAHelperThatHasEndedIsNotStartedAgain(t *testing.T) {
	on := extratest.New(t)
	if _, err := set(t, on, 2); err != nil {
		t.Fatal(err)
	}
	on.All["a-extra-fit-1"].Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowFailed, FinishedAt: metav1.Time{Time: extratest.Started}}
	on.TakeDone()
	for _, workers := range []int{2, 1, 2} {
		if got, err := set(t, on, workers); err != nil || got.Changed || len(on.Done) > 0 {
			t.Errorf("%d: %+v, %v, did %v", workers, got, err, on.Done)
		}
	}
}

// The pods of a helper that was stopped have to go before its name is free.
func TestRaisingWaitsForAName(t *testing.T) {
	for name, tc := range map[string]struct {
		lingers int
		want    Result
	}{
		"short":    {3, Result{Workers: 1, Changed: true}},
		"too long": {1000, Result{Workers: 0, Changed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := extratest.New(t)
				for _, workers := range []int{1, 0} {
					if _, err := set(t, on, workers); err != nil {
						t.Fatal(err)
					}
				}
				on.Lingers = tc.lingers
				got, err := set(t, on, 1)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
				// The same call later finishes it.
				on.Lingers = 0
				if got, err := set(t, on, 1); err != nil || got.Workers != 1 {
					t.Errorf("later: %+v %v", got, err)
				}
				if diff := cmp.Diff([]string{"a-extra-fit-0"}, on.Alive()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// The API server may be too slow for all of them within a call.
func TestAsManyAreMadeAsThereIsTimeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := extratest.New(t)
		on.Create = func(helper *wfv1.Workflow) error {
			time.Sleep(2 * time.Second)
			if helper.Labels["runhook/extra"] == "1" {
				return fault.New(fault.Unavailable, "the call was given up")
			}
			return nil
		}
		if got, err := set(t, on, 2); err != nil || got != (Result{Workers: 1, Changed: true}) {
			t.Errorf("%+v %v", got, err)
		}
		on.Create = nil
		if got, err := set(t, on, 2); err != nil || got != (Result{Workers: 2, Changed: true}) {
			t.Errorf("later: %+v %v", got, err)
		}
	})
}

func TestTwoAtOnceMakeOne(t *testing.T) {
	on := extratest.New(t)
	on.Create = func(workflow *wfv1.Workflow) error {
		on.Create = nil
		other := workflow.DeepCopy()
		_, err := on.CreateWorkflow(t.Context(), other, false)
		return err
	}
	if got, err := set(t, on, 1); err != nil || got.Workers != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if diff := cmp.Diff([]string{"create a-extra-fit-0"}, on.Done); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatEndsMeanwhileKeepsNoHelper(t *testing.T) {
	for name, end := range map[string]func(*extratest.Cluster){
		"it is cancelled": func(on *extratest.Cluster) { on.All["a"].Spec.Shutdown = wfv1.ShutdownStrategyTerminate },
		"it succeeds":     func(on *extratest.Cluster) { on.All["a"].Status.FinishedAt = metav1.Time{Time: extratest.Started} },
		"it is deleted":   func(on *extratest.Cluster) { delete(on.All, "a") },
	} {
		on := extratest.New(t)
		on.Create = func(*wfv1.Workflow) error { end(on); return nil }
		if _, err := set(t, on, 1); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
		if alive := on.Alive(); len(alive) > 0 {
			t.Errorf("%s, and %v are left", name, alive)
		}
	}
}
