package event_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

func annotate(t testing.TB, w *status.Workflow, evidence *cause.Evidence) {
	t.Helper()
	text, err := evidence.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if w.Metadata.Annotations == nil {
		w.Metadata.Annotations = map[string]string{}
	}
	w.Metadata.Annotations[cause.Annotation] = text
}

// Every recorded case is played as a watch sees it: at each moment the pods
// are looked at, their proofs are kept, and the events of the state are sent.
// The end state, seen by another watch that comes after all pods are gone, must
// imply every attempt that was told of, with the same content.
func TestReplayOfEveryRecordedCase(t *testing.T) {
	var truth map[string]struct {
		Case, Name, Workflow string
		Pods                 []string
		Attempts             map[string]cause.Cause
		SilentRestarts       map[string][]cause.Cause
	}
	recorded.Truth(t, "truth.json", &truth)
	for name, want := range truth {
		t.Run(name, func(t *testing.T) {
			m := recorded.Read(t, want.Case)
			var evidence cause.Evidence
			sent := map[string]event.Event{}
			for _, file := range want.Pods {
				pods := m.Pods(t, file)
				pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[cause.WorkflowLabel] != want.Name })
				for i := range pods {
					evidence.Observe(&pods[i])
				}
				moment := strings.Replace(file, "-pods.json", "-wf.json", 1)
				if !bytes.Contains(m[moment], []byte(want.Name)) {
					continue // not made yet
				}
				w := m.Workflow(t, moment, want.Name)
				annotate(t, w, &evidence)
				for _, e := range event.Of(w, pods, source) {
					sent[e.ID()] = e
				}
			}
			w := m.Workflow(t, want.Workflow, want.Name)
			annotate(t, w, &evidence)
			implied := map[string]event.Event{}
			causes := map[cause.Cause]int{}
			for _, e := range event.Of(w, nil, source) {
				implied[e.ID()] = e
				if e.Type() == "runhook.attempt.ended.v1" && e.Attempt.Cause != cause.None {
					causes[e.Attempt.Cause]++
				}
			}
			for id, e := range sent {
				if e.Attempt == nil {
					continue
				}
				end, ok := implied[id]
				if !ok {
					t.Errorf("%s of %s was sent, and the end state does not imply it: %s", e.Type(), e.Subject(), e.Data())
				} else if string(end.Data()) != string(e.Data()) {
					t.Errorf("%s changed its content:\n%s\n%s", e.Type(), e.Data(), end.Data())
				}
			}
			for id, e := range implied {
				if _, ok := sent[id]; !ok {
					t.Errorf("%s of %s is implied by the end state and was not sent", e.Type(), e.Subject())
				}
			}
			wanted := map[cause.Cause]int{}
			for _, c := range want.Attempts {
				wanted[c]++
			}
			for _, list := range want.SilentRestarts {
				for _, c := range list {
					wanted[c]++
				}
			}
			for c, n := range wanted {
				if causes[c] != n {
					t.Errorf("%d attempts ended by %s, want %d", causes[c], c, n)
				}
			}
		})
	}
}
