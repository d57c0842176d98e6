package extra

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/extra/extratest"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
)

// begin does what the watch does when a run has changed, twice: a leader may
// have died after the first time.
func begin(t *testing.T, on *extratest.Cluster) []string {
	t.Helper()
	for range 2 {
		if err := helping(on).Begin(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	return on.TakeDone()
}

var both = []string{"create a-extra-fit-0", "create a-extra-fit-1"}

func TestATaskGetsItsHelpersWhenItBegins(t *testing.T) {
	on := extratest.New(t)
	if diff := cmp.Diff(both, begin(t, on)); diff != "" {
		t.Error(diff)
	}
	// One that somebody stops by other means is not made again either.
	on.All["a-extra-fit-1"].Spec.Shutdown = wfv1.ShutdownStrategyTerminate
	if did := begin(t, on); did != nil {
		t.Errorf("later: %v", did)
	}
}

// Who comes after a leader that died in between finds the helpers, and not that
// they were all made.
func TestWhatWasBegunHalfIsDoneToItsEnd(t *testing.T) {
	on := extratest.New(t)
	on.Create = func(helper *wfv1.Workflow) error {
		if helper.Labels[argo.ExtraLabel] == "1" {
			return fault.New(fault.Unavailable, "away")
		}
		return nil
	}
	if err := helping(on).Begin(t.Context(), "a"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the first says %v", err)
	}
	on.Create = nil
	if diff := cmp.Diff(both, begin(t, on)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatSomebodySaidIsLeftToThem(t *testing.T) {
	for _, workers := range []int{0, 1} {
		on := extratest.New(t)
		if _, err := set(t, on, workers); err != nil {
			t.Fatal(err)
		}
		on.TakeDone()
		if did := begin(t, on); did != nil {
			t.Errorf("somebody said %d, and then: %v", workers, did)
		}
	}
	on := extratest.New(t)
	begin(t, on)
	if _, err := set(t, on, 1); err != nil {
		t.Fatal(err)
	}
	on.TakeDone()
	if did := begin(t, on); did != nil {
		t.Errorf("somebody lowered it, and then: %v", did)
	}
}

// As `argo retry` begins a task again, with what was stopped at its first end.
func TestATaskThatBeginsAgainGetsThemAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := extratest.New(t)
		begin(t, on)
		for _, name := range on.Alive() {
			on.All[name].Spec.Shutdown = wfv1.ShutdownStrategyTerminate
		}
		node := on.All["a"].Status.Nodes["a.fit"]
		node.StartedAt = metav1.Time{Time: node.StartedAt.Add(time.Hour)}
		on.All["a"].Status.Nodes["a.fit"] = node
		on.Lingers = 1000
		if err := helping(on).Begin(t.Context(), "a"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("while the names are taken: %v", err)
		}
		on.Lingers = 0
		on.TakeDone()
		begin(t, on)
		if diff := cmp.Diff([]string{"a-extra-fit-0", "a-extra-fit-1"}, on.Alive()); diff != "" {
			t.Error(diff)
		}
	})
}

// The rule looks at the present state only: nothing that it must have seen before.
func TestWhenHelpersAreDueAndWhenOver(t *testing.T) {
	for name, tc := range map[string]struct {
		change    func(on *extratest.Cluster)
		due, over bool
	}{
		"it runs": {func(*extratest.Cluster) {}, true, false},
		"it waits": {func(on *extratest.Cluster) {
			for _, node := range []string{"a.fit", "a.fit.fit-0", "a.fit.fit-1"} {
				on.Node(node, wfv1.NodeTypePod, wfv1.NodePending)
			}
		}, false, false},
		"it has not come": {func(on *extratest.Cluster) {
			for _, node := range []string{"a.fit", "a.fit.fit-0", "a.fit.fit-1"} {
				delete(on.All["a"].Status.Nodes, node)
			}
		}, false, false},
		"one worker is done": {func(on *extratest.Cluster) { on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeSucceeded) }, true, false},
		"the merge runs": {func(on *extratest.Cluster) {
			on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeSucceeded)
			on.Node("a.fit.fit-1", wfv1.NodeTypePod, wfv1.NodeSucceeded)
			on.Node("a.fit.fit-merge", wfv1.NodeTypePod, wfv1.NodeRunning)
		}, false, true},
		"it failed": {func(on *extratest.Cluster) {
			on.Node("a.fit", wfv1.NodeTypeDAG, wfv1.NodeFailed)
			on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeFailed)
		}, false, true},
		"the run is being ended": {func(on *extratest.Cluster) { on.All["a"].Spec.Shutdown = wfv1.ShutdownStrategyStop }, false, false},
		"the run has ended": {func(on *extratest.Cluster) {
			on.All["a"].Status.FinishedAt = metav1.Time{Time: extratest.Started}
			on.All["a"].Annotations = nil // as the watch's cache holds it
			on.All["a"].Status.Nodes = nil
		}, false, true},
		"it is no run of ours": {func(on *extratest.Cluster) { on.All["a"].Labels = nil }, false, false},
		"it is a helper":       {func(on *extratest.Cluster) { on.All["a"].Labels[argo.ExtraOfLabel] = "b" }, false, false},
	} {
		on := extratest.New(t)
		tc.change(on)
		raw, err := on.Workflow(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		run, err := status.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		tasks := TasksOf(run)
		_, due := tasks.Due()["fit"]
		if over := tasks.Over("fit"); due != tc.due || over != tc.over {
			t.Errorf("%s: due %t, over %t; want %t, %t", name, due, over, tc.due, tc.over)
		}
	}
}

func TestNoHelpersAreSetWhenTheWorkersAreDone(t *testing.T) {
	on := extratest.New(t)
	on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeSucceeded)
	on.Node("a.fit.fit-1", wfv1.NodeTypePod, wfv1.NodeSucceeded)
	if _, err := set(t, on, 1); fault.KindOf(err) != fault.Conflict || len(on.Done) > 0 {
		t.Errorf("%v, did %v", err, on.Done)
	}
}

// A Workflow may hold anything: a quantity that takes for ever to read is refused.
func TestAnEndlessQuantityDoesNotHoldACallUp(t *testing.T) {
	on := &endless{extratest.New(t)}
	if err := New(on, nil, time.Now).Begin(t.Context(), "a"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
}

// endless gives each container a request that is endless.
type endless struct{ *extratest.Cluster }

func (e *endless) Workflow(ctx context.Context, name string) ([]byte, error) {
	raw, err := e.Cluster.Workflow(ctx, name)
	return bytes.ReplaceAll(raw, []byte(`"resources":{}`), []byte(`"resources":{"requests":{"cpu":"99999999999999999999e999999999"}}`)), err
}
