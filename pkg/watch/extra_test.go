package watch

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/extra/extratest"
	"github.com/runhook/runhook/pkg/fault"
)

// Begin and ShutdownWorkflow are not called where no run has helpers.
func (w *world) Begin(context.Context, string) error { return fault.New(fault.Internal, "no helpers") }

func (w *world) ShutdownWorkflow(context.Context, string, wfv1.ShutdownStrategy) error {
	return fault.New(fault.Internal, "no helpers")
}

// cached is a cluster as the cache of a leader holds it that saw nothing before.
func cached(t *testing.T, on *extratest.Cluster) *world {
	t.Helper()
	w := newWorld()
	for name := range on.All {
		raw, err := on.Workflow(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		held := &workflow{}
		if err := json.Unmarshal(raw, held); err != nil {
			t.Fatal(err)
		}
		w.workflows[name] = held
	}
	return w
}

// lead is one turn of a new leader at every run that has to do with helpers.
func lead(t *testing.T, on *extratest.Cluster) []string {
	t.Helper()
	cache := cached(t, on)
	h := helpers{cache, extra.New(on, extratest.Priorities, extratest.Started.UTC), on, slog.New(slog.DiscardHandler)}
	runs := map[string]bool{} // as the queue does, each once
	for _, w := range cache.Workflows() {
		runs[helpedRun(w)] = true
	}
	for run := range runs {
		if err := h.look(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	did := on.TakeDone()
	slices.Sort(did)
	return did
}

var terminated = []string{"Terminate a-extra-fit-0", "Terminate a-extra-fit-1"}

// Every leader sees the present state only.
func TestHelpersComeAndGoWithTheWorkers(t *testing.T) {
	on := extratest.New(t)
	for i, step := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"create a-extra-fit-0", "create a-extra-fit-1"}},
		{func() {}, nil},
		{func() { on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeSucceeded) }, nil},
		{func() { // the merge goes on
			on.Node("a.fit.fit-1", wfv1.NodeTypePod, wfv1.NodeSucceeded)
			on.Node("a.fit.fit-merge", wfv1.NodeTypePod, wfv1.NodeRunning)
		}, terminated},
		{func() {}, nil},
	} {
		step.change()
		if diff := cmp.Diff(step.want, lead(t, on)); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
}

func TestHelpersEndWithTheirRun(t *testing.T) {
	for name, change := range map[string]func(on *extratest.Cluster){
		"it ended": func(on *extratest.Cluster) { on.All["a"].Status.FinishedAt.Time = extratest.Started },
		"it ended while nobody led, and its nodes are forgotten": func(on *extratest.Cluster) {
			on.All["a"].Status.FinishedAt.Time = extratest.Started
			on.All["a"].Status.Nodes, on.All["a"].Annotations = nil, nil
		},
	} {
		on := extratest.New(t)
		lead(t, on)
		on.All["a-extra-fit-1"].Labels["workflows.argoproj.io/completed"] = "true"
		change(on)
		if diff := cmp.Diff(terminated[:1], lead(t, on)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	on := extratest.New(t)
	lead(t, on)
	delete(on.All, "a") // the cluster deletes what it owned
	if did := lead(t, on); did != nil {
		t.Errorf("the run is gone: %v", did)
	}
}

func TestAHelperThatCannotBeEndedIsTriedAgain(t *testing.T) {
	on := extratest.New(t)
	lead(t, on)
	on.All["a"].Status.FinishedAt.Time = extratest.Started
	cache := cached(t, on)
	h := helpers{cache, away{}, away{}, slog.New(slog.DiscardHandler)}
	if err := h.look(t.Context(), "a"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("away: %v", err)
	}
	delete(on.All, "a-extra-fit-0") // the cache does not know yet
	if err := (helpers{cache, away{}, on, slog.New(slog.DiscardHandler)}).look(t.Context(), "a"); err != nil {
		t.Errorf("gone: %v", err)
	}
}

// away is a cluster that is away.
type away struct{}

func (away) Begin(context.Context, string) error { return fault.New(fault.Unavailable, "away") }

func (away) ShutdownWorkflow(context.Context, string, wfv1.ShutdownStrategy) error {
	return fault.New(fault.Unavailable, "away")
}
