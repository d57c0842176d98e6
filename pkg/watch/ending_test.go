package watch

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// helper is a Workflow that helps a run.
func helper(t *testing.T, name, run, completed, shutdown string) *workflow {
	t.Helper()
	var w workflow
	text := fmt.Sprintf(`{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
		"metadata": {"name": %q, "uid": %q, "labels": {"runhook/run": %q, "runhook/extra-of": %q, "workflows.argoproj.io/completed": %q}},
		"spec": {"shutdown": %q}, "status": {"phase": "Running"}}`, name, name, run, run, completed, shutdown)
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	return &w
}

func TestHelpersEndWithTheirRun(t *testing.T) {
	on := newWorld()
	for _, w := range []*workflow{
		helper(t, "helps", low, "", ""),
		helper(t, "ended", low, "true", ""),
		helper(t, "ending", low, "", "Terminate"),
		helper(t, "of-another", "another", "", ""),
	} {
		on.workflows[w.Name] = w
	}
	terminated := func() []string {
		got := slices.Clone(on.shutdowns)
		on.shutdowns = nil
		slices.Sort(got)
		return got
	}
	on.show(t, "05-after-gone")
	r := newReplica(on, on.workflows[low].state().Status.StartedAt)
	r.lead(true)
	r.look(t, low)
	if got := terminated(); len(got) > 0 {
		t.Errorf("the run goes on, and %v were ended", got)
	}
	on.show(t, "07-after")
	r.look(t, low)
	if diff := cmp.Diff([]string{"helps Terminate"}, terminated()); diff != "" {
		t.Errorf("the run has ended: %s", diff)
	}
	// It ended while nobody led.
	r.tidy(t.Context())
	if diff := cmp.Diff([]string{"helps Terminate"}, terminated()); diff != "" {
		t.Errorf("a new leader: %s", diff)
	}
	// Who does not lead ends nothing.
	other := newReplica(on, on.workflows[low].state().Status.StartedAt)
	other.look(t, low)
	if got := terminated(); len(got) > 0 {
		t.Errorf("a follower ended %v", got)
	}
}
