package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

// aboutRun is the event about a run, and its data as a receiver reads it.
func aboutRun(t *testing.T, events []event.Event) (event.Event, event.Run) {
	t.Helper()
	e := events[len(events)-1]
	if !e.AboutRun() {
		t.Fatalf("the last event is %s", e.Type())
	}
	var data event.Run
	if err := json.Unmarshal(e.Data(), &data); err != nil {
		t.Fatal(err)
	}
	return e, data
}

func TestARunTellsItsSource(t *testing.T) {
	m := recorded.Read(t, "success-dag")
	for text, want := range map[string]string{
		`{"route":"acme/train","host":"git.lab","repo":"acme/pump","sha":"5555","ref":"refs/heads/main"}`: "5555",
		"":                    "",
		`{"sha":5}`:           "",
		`{"sha":"5555`:        "",
		`["not an object"]`:   "",
		`{"later":"a field"}`: "none",
	} {
		w := m.Workflow(t, "03-after-wf.json", "ok")
		if w.Metadata.Annotations == nil {
			w.Metadata.Annotations = map[string]string{}
		}
		w.Metadata.Annotations[argo.SourceAnnotation] = text
		w.Metadata.Labels = map[string]string{owner.RunLabel: "ok"}
		_, data := aboutRun(t, event.Of(w, nil, source))
		switch {
		case want == "" && data.Source != nil:
			t.Errorf("%s: %+v", text, data.Source)
		case want == "5555" && (data.Source == nil || data.Source.SHA != want || data.Source.Repo != "acme/pump" || data.Source.Route != "acme/train"):
			t.Errorf("%s: %+v", text, data.Source)
		case want == "none" && (data.Source == nil || data.Source.SHA != ""):
			t.Errorf("%s: %+v", text, data.Source)
		}
	}
}

// Anybody's Workflow may have the annotation: it is not shown at a commit.
func TestAForeignWorkflowHasNoSource(t *testing.T) {
	w := recorded.Read(t, "success-dag").Workflow(t, "03-after-wf.json", "ok")
	w.Metadata.Annotations = map[string]string{argo.SourceAnnotation: `{"route":"acme/train","host":"git.lab","repo":"acme/pump","sha":"5555"}`}
	e, data := aboutRun(t, event.Of(w, nil, source))
	if data.Source != nil || e.Run.Source != nil {
		t.Errorf("%+v", data.Source)
	}
}

// What a phase is due to: nothing of a run that waits for its turn or has
// succeeded, else the attempt.
func TestAPhaseTellsItsAttempt(t *testing.T) {
	preempted := func(t *testing.T) *status.Workflow {
		m := recorded.Read(t, "preempt-retry-always")
		w := m.Workflow(t, "05-after-gone-wf.json", "preempt-retry-always-lo")
		var evidence cause.Evidence
		for _, pod := range m.Pods(t, "02-preempting-pods.json") {
			if pod.Labels[cause.WorkflowLabel] == w.Metadata.Name {
				evidence.Observe(&pod)
			}
		}
		annotate(t, w, &evidence)
		return w
	}
	for _, tc := range []struct {
		name     string
		workflow func(*testing.T) *status.Workflow
		phase    status.Phase
		task     string
		cause    cause.Cause
	}{
		{"preempted", preempted, status.Preempted, "train", cause.Preempted},
		{"succeeded after failures", func(t *testing.T) *status.Workflow {
			return recorded.Read(t, "retry-succeeds").Workflow(t, "02-after-wf.json", "retry-succeeds")
		}, status.Succeeded, "", ""},
		{"queued", func(t *testing.T) *status.Workflow {
			return recorded.Read(t, "gated").Workflow(t, "01-gated-wf.json", "gate2")
		}, status.Pending, "", ""},
	} {
		_, data := aboutRun(t, event.Of(tc.workflow(t), nil, source))
		task, why := "", cause.None
		if data.Attempt != nil {
			task = data.Attempt.Name
		}
		if data.Attempt != nil {
			why = data.Attempt.Cause
		}
		if data.Phase != tc.phase || task != tc.task || why != tc.cause {
			t.Errorf("%s: %s is due to %q (%s)", tc.name, data.Phase, task, why)
		}
	}
}

// Of several tasks that failed, the one that failed first is to blame.
func TestTheFirstFailureIsToBlame(t *testing.T) {
	w := recorded.Read(t, "retry-succeeds").Workflow(t, "02-after-wf.json", "retry-succeeds")
	w.Status.Phase = "Failed"
	at := w.Status.FinishedAt
	for _, n := range w.Status.Nodes {
		n.Phase = "Failed"
		switch n.DisplayName {
		case "train", "train(2)":
			n.FinishedAt = at
		case "after":
			n.FinishedAt = at.Add(-time.Second)
		}
	}
	_, data := aboutRun(t, event.Of(w, nil, source))
	if data.Phase != status.Failed || data.Attempt == nil || data.Attempt.Name != "after" {
		t.Errorf("%s is due to %+v", data.Phase, data.Attempt)
	}
}

func TestARunTellsWhatItWaitsFor(t *testing.T) {
	m := recorded.Read(t, "gated")
	w := m.Workflow(t, "01-gated-wf.json", "gate2")
	events := event.Of(w, m.Pods(t, "01-gated-pods.json"), source)
	_, data := aboutRun(t, events)
	if data.Phase != status.Pending || data.Waiting == nil || data.Waiting.Task != "a" || data.Waiting.Reason != status.Queued && data.Waiting.Reason != status.Gated {
		t.Errorf("%s waits for %+v", data.Phase, data.Waiting)
	}
}
