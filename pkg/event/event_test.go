package event_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

const source = "/namespaces/argo"

// types lists type and subject of events, in order.
func types(events []event.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(e.Type(), "runhook."), ".v1")+" "+e.Subject())
	}
	return all
}

func ids(events []event.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.ID())
	}
	return all
}

func TestEventsOfAState(t *testing.T) {
	tests := []struct {
		name, recorded, file, run string
		want                      []string
	}{
		{"queued", "gated", "01-gated-wf.json", "gate2", []string{"task.pending gate2/a", "run.pending gate2"}},
		{"preempted, and the next attempt waits", "preempt-retry-always", "05-after-gone-wf.json", "preempt-retry-always-lo", []string{
			"attempt.started preempt-retry-always-lo/train", "attempt.ended preempt-retry-always-lo/train",
			"task.preempted preempt-retry-always-lo/train", "run.preempted preempt-retry-always-lo",
		}},
		{"three failures", "retry-succeeds", "02-after-wf.json", "retry-succeeds", []string{
			"attempt.started retry-succeeds/train", "attempt.ended retry-succeeds/train",
			"attempt.started retry-succeeds/train", "attempt.ended retry-succeeds/train",
			"attempt.started retry-succeeds/train", "attempt.ended retry-succeeds/train",
			"attempt.started retry-succeeds/after", "attempt.ended retry-succeeds/after",
			"task.succeeded retry-succeeds/after", "task.succeeded retry-succeeds/train", "run.succeeded retry-succeeds",
		}},
		{"stopped", "stop", "05-after-wf.json", "stop", []string{
			"attempt.started stop/onExit", "attempt.ended stop/onExit",
			"attempt.started stop/train", "attempt.ended stop/train",
			"task.succeeded stop/onExit", "task.stopped stop/train", "run.stopped stop",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := recorded.Read(t, test.recorded).Workflow(t, test.file, test.run)
			got := event.Of(w, nil, source)
			if diff := cmp.Diff(test.want, types(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			unique := slices.Compact(slices.Sorted(slices.Values(ids(got))))
			if len(unique) != len(got) {
				t.Errorf("%d events have %d ids", len(got), len(unique))
			}
			for _, e := range got {
				if err := e.Validate(); err != nil {
					t.Errorf("%s: %v", e.Type(), err)
				}
				if e.RunOf() != test.run || e.Source() != source {
					t.Errorf("run %q, source %q", e.RunOf(), e.Source())
				}
			}
		})
	}
}

// A Workflow that has succeeded is shown three times: as it was, with a label
// of its archive, and by a new watch.
func TestTheSameStateGivesTheSameIDs(t *testing.T) {
	m := recorded.Read(t, "success-dag")
	first := event.Of(m.Workflow(t, "03-after-wf.json", "ok"), nil, source)
	labelled := m.Workflow(t, "03-after-wf.json", "ok")
	labelled.Metadata.Labels["workflows.argoproj.io/workflow-archiving-status"] = "Archived"
	labelled.Metadata.ResourceVersion = "9999999"
	for _, again := range []*status.Workflow{labelled, m.Workflow(t, "03-after-wf.json", "ok")} {
		events := event.Of(again, nil, source)
		if diff := cmp.Diff(ids(first), ids(events)); diff != "" {
			t.Errorf("ids differ:\n%s", diff)
		}
		for i := range events {
			if string(events[i].Data()) != string(first[i].Data()) {
				t.Errorf("%s changed its data:\n%s\n%s", events[i].Type(), first[i].Data(), events[i].Data())
			}
		}
	}
	another := m.Workflow(t, "03-after-wf.json", "ok")
	another.Metadata.UID = "another"
	for _, id := range ids(event.Of(another, nil, source)) {
		if slices.Contains(ids(first), id) {
			t.Error("a Workflow of the same name with another UID has the same id")
		}
	}
}

// Two times in one phase are two events.
func TestASecondPreemptionIsAnother(t *testing.T) {
	m := recorded.Read(t, "preempt-retry-always")
	first := m.Workflow(t, "05-after-gone-wf.json", "preempt-retry-always-lo")
	second := m.Workflow(t, "05-after-gone-wf.json", "preempt-retry-always-lo")
	// What Argo writes when attempt 1 has been preempted, too.
	for _, n := range slices.Collect(maps.Values(second.Status.Nodes)) {
		switch n.DisplayName {
		case "train(0)":
			again := *n
			again.ID, again.Name, again.DisplayName = "second", strings.Replace(n.Name, "(0)", "(1)", 1), "train(1)"
			again.FinishedAt = n.FinishedAt.Add(time.Minute)
			second.Status.Nodes["second"] = &again
		case "train":
			n.Children = append(n.Children, "second")
		}
	}
	pick := func(w *status.Workflow, kind string) string {
		for _, e := range event.Of(w, nil, source) {
			if e.Type() == kind {
				return e.ID()
			}
		}
		t.Fatalf("no %s in %v", kind, types(event.Of(w, nil, source)))
		return ""
	}
	for _, kind := range []string{"runhook.run.preempted.v1", "runhook.task.preempted.v1"} {
		if pick(first, kind) == pick(second, kind) {
			t.Errorf("%s has the same id both times", kind)
		}
	}
}

func TestTheEndOfAnAttemptTellsItsCause(t *testing.T) {
	m := recorded.Read(t, "preempt-retry-always")
	w := m.Workflow(t, "05-after-gone-wf.json", "preempt-retry-always-lo")
	var evidence cause.Evidence
	for _, pod := range m.Pods(t, "02-preempting-pods.json") {
		if pod.Labels[cause.WorkflowLabel] == w.Metadata.Name {
			evidence.Observe(&pod)
		}
	}
	annotate(t, w, &evidence)
	for _, e := range event.Of(w, nil, source) {
		if e.Type() != "runhook.attempt.ended.v1" {
			continue
		}
		var data struct {
			Run, Task, Cause, Reason string
			Interrupted              bool
		}
		if err := json.Unmarshal(e.Data(), &data); err != nil {
			t.Fatal(err)
		}
		if data.Run != w.Metadata.Name || data.Task != "train" || data.Cause != "preempted" || data.Reason != "WorkloadEvictedDueToPreempted" || !data.Interrupted {
			t.Errorf("data: %s", e.Data())
		}
		return
	}
	t.Error("no attempt has ended")
}

func TestDeleted(t *testing.T) {
	m := recorded.Read(t, "preempt-retry-always")
	going := m.Workflow(t, "05-after-gone-wf.json", "preempt-retry-always-lo")
	got := event.Deleted(going, source)
	if diff := cmp.Diff([]string{"run.stopped preempt-retry-always-lo"}, types(got)); diff != "" {
		t.Error(diff)
	}
	if ended := event.Deleted(m.Workflow(t, "07-after-wf.json", "preempt-retry-always-lo"), source); ended != nil {
		t.Errorf("a run that had ended: %v", types(ended))
	}
}

func TestAHelperIsATaskOfItsRun(t *testing.T) {
	w := recorded.Read(t, "success-dag").Workflow(t, "03-after-wf.json", "ok")
	w.Metadata.Labels = map[string]string{"runhook/extra-of": "big", "runhook/task": "fit", "runhook/extra": "2"}
	for _, e := range event.Of(w, nil, source) {
		if e.Subject() != "big/fit.fit-extra-2" || strings.HasPrefix(e.Type(), "runhook.run.") {
			t.Errorf("%s of %s", e.Type(), e.Subject())
		}
	}
}

func TestEventsOfANode(t *testing.T) {
	w := recorded.Read(t, "fanout").Workflow(t, "04-after-wf.json", "fanout")
	want := []string{
		"attempt.started fanout/fan(11:11)", "attempt.ended fanout/fan(11:11)",
		"task.failed fanout/fan", "task.succeeded fanout/fan(11:11)", "run.failed fanout",
	}
	got := event.OfNode(w, nil, source, "fanout-1023998861")
	if diff := cmp.Diff(want, types(got)); diff != "" {
		t.Error(diff)
	}
	all := ids(event.Of(w, nil, source))
	for _, id := range ids(got) {
		if !slices.Contains(all, id) {
			t.Errorf("%s is none of the Workflow's", id)
		}
	}
	w.Metadata.Labels = map[string]string{"runhook/extra-of": "big", "runhook/task": "fit", "runhook/extra": "2"}
	helper := "big/fit.fit-extra-2"
	if diff := cmp.Diff([]string{"attempt.started " + helper, "attempt.ended " + helper, "task.failed " + helper}, types(event.OfNode(w, nil, source, "fanout-1023998861"))); diff != "" {
		t.Error(diff)
	}
}

func TestSource(t *testing.T) {
	for url, want := range map[string]string{"": "/namespaces/runs", "https://hooks.acme.example/": "https://hooks.acme.example/namespaces/runs"} {
		if got := event.Source(url, "runs"); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

// Any Workflow gives valid events, with one id each.
func FuzzOf(f *testing.F) {
	for _, file := range []string{"02-preempting-wf.json", "07-after-wf.json"} {
		w := recorded.Read(f, "preempt-retry-always").Workflow(f, file, "preempt-retry-always-lo")
		w.Metadata.Annotations = map[string]string{argo.SourceAnnotation: `{"route":"acme/train","sha":"55"}`}
		seed, err := json.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := status.Decode(data)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, e := range event.Of(w, nil, source) {
			if seen[e.ID()] {
				t.Errorf("two events have the id %s", e.ID())
			}
			seen[e.ID()] = true
			if !json.Valid(e.Data()) {
				t.Errorf("data: %s", e.Data())
			}
		}
		event.Deleted(w, source)
	})
}
