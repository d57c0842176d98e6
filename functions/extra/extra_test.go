package extra

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

func body(workers int) string { return fmt.Sprintf(`{"run":"a","task":"fit","workers":%d}`, workers) }

func TestRaiseAndLower(t *testing.T) {
	on := newCluster(t)
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
		got, code, err := on.call(t.Context(), ci, body(step.workers))
		if err != nil {
			t.Fatal(err)
		}
		want := Response{Run: "a", Task: "fit", Workers: step.workers, Changed: step.done != nil}
		if diff := cmp.Diff(want, got); diff != "" || code != http.StatusOK {
			t.Errorf("step %d: %d %s", i, code, diff)
		}
		if diff := cmp.Diff(step.done, on.takeDone()); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	if len(on.workflows["a"].Spec.Shutdown) > 0 {
		t.Error("the run itself was ended")
	}
}

func TestHelperIsTheRunsAndLessUrgent(t *testing.T) {
	on := newCluster(t)
	if _, _, err := on.call(t.Context(), ci, body(1)); err != nil {
		t.Fatal(err)
	}
	helper := on.workflows["a-extra-fit-0"]
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
	on := newCluster(t)
	if _, _, err := on.call(t.Context(), ci, body(2)); err != nil {
		t.Fatal(err)
	}
	on.workflows["a-extra-fit-1"].Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowFailed, FinishedAt: metav1.Time{Time: started}}
	on.takeDone()
	for _, workers := range []int{2, 1, 2} {
		if got, _, err := on.call(t.Context(), ci, body(workers)); err != nil || got.Changed || len(on.done) > 0 {
			t.Errorf("%d: %+v, %v, did %v", workers, got, err, on.done)
		}
	}
}

// The pods of a helper that was stopped have to go before its name is free.
func TestRaisingWaitsForAName(t *testing.T) {
	for name, tc := range map[string]struct {
		lingers int
		code    int
		want    Response
	}{
		"short":    {3, http.StatusOK, Response{Run: "a", Task: "fit", Workers: 1, Changed: true}},
		"too long": {1000, http.StatusAccepted, Response{Run: "a", Task: "fit", Workers: 0, Changed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := newCluster(t)
				for _, workers := range []int{1, 0} {
					if _, _, err := on.call(t.Context(), ci, body(workers)); err != nil {
						t.Fatal(err)
					}
				}
				on.lingers = tc.lingers
				got, code, err := on.call(t.Context(), ci, body(1))
				if err != nil || code != tc.code {
					t.Fatalf("%d %v", code, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
				// The same call later finishes it.
				on.lingers = 0
				if got, code, err := on.call(t.Context(), ci, body(1)); err != nil || code != http.StatusOK || got.Workers != 1 {
					t.Errorf("later: %+v %d %v", got, code, err)
				}
				if diff := cmp.Diff([]string{"a-extra-fit-0"}, on.alive()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestTwoAtOnceMakeOne(t *testing.T) {
	on := newCluster(t)
	on.create = func(workflow *wfv1.Workflow) error {
		on.create = nil
		other := workflow.DeepCopy()
		_, err := on.CreateWorkflow(t.Context(), other, false)
		return err
	}
	if got, _, err := on.call(t.Context(), ci, body(1)); err != nil || got.Workers != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if diff := cmp.Diff([]string{"create a-extra-fit-0"}, on.done); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatEndsMeanwhileKeepsNoHelper(t *testing.T) {
	for name, end := range map[string]func(*cluster){
		"it is cancelled": func(on *cluster) { on.workflows["a"].Spec.Shutdown = wfv1.ShutdownStrategyTerminate },
		"it succeeds":     func(on *cluster) { on.workflows["a"].Status.FinishedAt = metav1.Time{Time: started} },
		"it is deleted":   func(on *cluster) { delete(on.workflows, "a") },
	} {
		on := newCluster(t)
		on.create = func(*wfv1.Workflow) error { end(on); return nil }
		if _, _, err := on.call(t.Context(), ci, body(1)); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
		if alive := on.alive(); len(alive) > 0 {
			t.Errorf("%s, and %v are left", name, alive)
		}
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	err := Request{Run: "A/b"}.check()
	if problems := fault.From(err).Problems; len(problems) != 3 || problems[0].Path != "run" {
		t.Errorf("%v", problems)
	}
}

func TestRefused(t *testing.T) {
	phase := func(phase wfv1.NodePhase) func(*cluster) {
		return func(on *cluster) {
			for _, id := range []string{"a-1", "a-2"} {
				node := on.workflows["a"].Status.Nodes[id]
				node.Phase = phase
				on.workflows["a"].Status.Nodes[id] = node
			}
		}
	}
	all := function.Caller{Name: "ops", AllRuns: true}
	for name, tc := range map[string]struct {
		body    string
		caller  function.Caller
		prepare func(*cluster)
		want    fault.Kind
	}{
		"above split.extra":  {body(3), ci, nil, fault.Invalid},
		"below none":         {body(-1), ci, nil, fault.Invalid},
		"no number":          {`{"run":"a","task":"fit"}`, ci, nil, fault.Invalid},
		"no task":            {`{"run":"a","workers":1}`, ci, nil, fault.Invalid},
		"no run":             {`{"task":"fit","workers":1}`, ci, nil, fault.Invalid},
		"an unknown key":     {`{"run":"a","task":"fit","workers":1,"force":true}`, ci, nil, fault.Invalid},
		"not split":          {`{"run":"a","task":"fetch","workers":1}`, ci, nil, fault.Conflict},
		"no such task":       {`{"run":"a","task":"nothing","workers":0}`, ci, nil, fault.Conflict},
		"the task has ended": {body(1), ci, phase(wfv1.NodeSucceeded), fault.Conflict},
		"the task waits":     {body(1), ci, phase(wfv1.NodePending), fault.Conflict},
		"being cancelled":    {body(1), ci, func(on *cluster) { on.workflows["a"].Spec.Shutdown = "Terminate" }, fault.Conflict},
		"past its deadline":  {body(1), ci, func(on *cluster) { on.workflows["a"].Status.StartedAt.Time = started.Add(-2 * time.Hour) }, fault.Conflict},
		"a quota": {body(1), ci, func(on *cluster) {
			on.create = func(*wfv1.Workflow) error { return fault.New(fault.Conflict, "quota") }
		}, fault.Conflict},
		"the name is another": {body(1), ci, func(on *cluster) {
			on.workflows["a-extra-fit-0"] = &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "a-extra-fit-0"}}
		}, fault.Conflict},
		"the cluster is away": {body(1), ci, func(on *cluster) {
			on.create = func(*wfv1.Workflow) error { return fault.New(fault.Unavailable, "away") }
		}, fault.Unavailable},
		"another's":     {body(1), function.Caller{Name: "cd"}, nil, fault.NotFound},
		"a foreign run": {body(1), all, func(on *cluster) { on.workflows["a"].Labels, on.workflows["a"].Annotations = nil, nil }, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			on := newCluster(t)
			if tc.prepare != nil {
				tc.prepare(on)
			}
			if _, _, err := on.call(t.Context(), tc.caller, tc.body); fault.KindOf(err) != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			if len(on.done) > 0 {
				t.Errorf("did %v", on.done)
			}
		})
	}
}

func TestFunction(t *testing.T) {
	f := New(newCluster(t), Settings{})
	if f.Name != "extra" || f.Reads {
		t.Errorf("%+v", f)
	}
	if err := f.Check(json.RawMessage(body(-1))); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the check says %v", err)
	}
	if err := f.Check(json.RawMessage(body(1))); err != nil {
		t.Errorf("the check says %v", err)
	}
}
