package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/owner"
)

func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	c := recorded(t, retried, "02-preempting")
	for body, want := range map[string][]string{
		`{}`: {"kind", "name", "namespace", "uid"},
		`{"kind":"Job","namespace":"other","name":"../x","uid":"?"}`:                                                      {"kind", "name", "namespace", "uid"},
		`{"kind":"Workflow","namespace":"argo","name":"a","uid":"u","conditions":[{"type":"Completed","status":"True"}]}`: {"conditions"},
		`{"kind":"Pod","namespace":"argo","name":"a","uid":"u","conditions":[
			{"type":"Ready","status":"False"},
			{"type":"TerminationTarget","status":"True"},
			{"type":"TerminationTarget","status":"True","reason":"Stopped","lastTransitionTime":"2026-11-30T09:22:15Z"}]}`: {
			"conditions[1].lastTransitionTime", "conditions[1].reason", "conditions[2].type"},
		`{"kind":"Pod","namespace":"argo","name":"` + strings.Repeat("a-", 64) + `a","uid":"u"}`:                                                               {"name"},
		`{"kind":"Pod","namespace":"argo","name":"a","uid":"u","conditions":[` + strings.Repeat(`{"type":"TerminationTarget","status":"True"},`, 100) + `{}]}`: {"conditions"},
	} {
		_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, []byte(body))
		var paths []string
		for _, p := range fault.From(err).Problems {
			paths = append(paths, p.Path)
		}
		if diff := cmp.Diff(want, paths); diff != "" || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	if _, _, err := c.call(t.Context(), sensor, owner.ForeignRead, []byte(`{"kind":"Pod","workflow":"a"}`)); fault.From(err).Problems[0].Path != "workflow" {
		t.Error(err)
	}
}

// FuzzRequest: whatever is said of a pod, it is refused or leaves evidence that
// can be read, of that pod alone.
func FuzzRequest(f *testing.F) {
	condition := `{"type":"TerminationTarget","status":"True","reason":"Preempted","lastTransitionTime":"2026-11-30T09:22:15Z","lastProbeTime":null}`
	for _, seed := range []string{
		`{"kind":"Pod","namespace":"argo","name":"%s","uid":"5628da97","conditions":[` + condition + `],"deleted":true}`,
		`{"kind":"Pod","namespace":"argo","name":"%s","uid":"5628da97","conditions":[` + condition + `,` + condition + `]}`,
		`{"kind":"Workflow","namespace":"argo","name":"preempt-retry-always-lo","uid":"21172967-fcb9-4e69-b8c9-5fd4ccf59944"}`,
		`{"kind":"Pod","namespace":"argo","name":"%s","uid":"5628da97","conditions":null}`,
	} {
		f.Add([]byte(strings.ReplaceAll(seed, "%s", retriedPod)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := recorded(t, retried, "04-pod-gone")
		_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, body)
		var told *fault.Error
		if err != nil && !errors.As(err, &told) {
			t.Fatalf("no fault: %v", err)
		}
		if err != nil && c.writes > 0 {
			t.Fatal("what was refused was written")
		}
		for _, entry := range c.evidence(t, retriedRun).Entries() {
			if entry.Source != "record" || entry.UID == "" || len(fmt.Sprint(entry)) > 1024 {
				t.Fatalf("%+v", entry)
			}
		}
	})
}
