package alert

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/owner"
)

// listed is what one Workflow of the cluster is.
type listed struct {
	completed string
	workflow  string // empty: it is gone when it is read
}

type runs map[string]listed

func (r runs) EachWorkflow(_ context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	if selector != owner.RunLabel+",!"+argo.ExtraOfLabel {
		return fault.New(fault.Invalid, "selects %s", selector)
	}
	for name, l := range r {
		visit(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{argo.CompletedLabel: l.completed}}})
	}
	return nil
}

func (r runs) Workflow(_ context.Context, name string) ([]byte, error) {
	if r[name].workflow == "" {
		return nil, fault.New(fault.NotFound, "gone")
	}
	return []byte(r[name].workflow), nil
}

// interrupted is a run whose pod was deleted at a minute, and waits again.
func interrupted(name, queue string, minute int) listed {
	return listed{"false", fmt.Sprintf(`{"metadata":{"name":%[1]q,"creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"runhook/priority":"normal"}},
		"spec":{"entrypoint":"fit","podMetadata":{"labels":{"kueue.x-k8s.io/queue-name":%[2]q}},"templates":[{"name":"fit","retryStrategy":{"limit":"3"}}]},
		"status":{"phase":"Running","startedAt":"2026-01-01T00:00:00Z","nodes":{
		"n":{"name":%[1]q,"displayName":%[1]q,"type":"Retry","phase":"Running","templateName":"fit","children":["n-0","n-1"]},
		"n-0":{"name":"%[1]s(0)","displayName":"%[1]s(0)","type":"Pod","phase":"Error","message":"pod deleted","templateName":"fit","startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:%02[3]d:00Z"},
		"n-1":{"name":"%[1]s(1)","displayName":"%[1]s(1)","type":"Pod","phase":"Pending","templateName":"fit","startedAt":"2026-01-01T00:%02[3]d:00Z"}}}}`, name, queue, minute)}
}

func TestSelect(t *testing.T) {
	on := runs{
		"late": interrupted("late", "research", 30), "early": interrupted("early", "research", 10), "middle": interrupted("middle", "research", 20),
		"other": interrupted("other", "batch", 1), "gone": {"false", ""},
		"runs": {"false", `{"metadata":{"name":"runs"},"status":{"phase":"Running","nodes":{"n":{"name":"runs","type":"Pod","phase":"Running"}}}}`},
		"bad":  {"true", `{"metadata":{"name":"bad"},"status":{"phase":"Failed","finishedAt":"2026-01-01T00:00:00Z"}}`},
	}
	for name, tc := range map[string]struct {
		selection hook.Selection
		want      []string
	}{
		"longest first":    {hook.Selection{Phase: "Preempted", Queue: "research", Limit: 2}, []string{"early", "middle"}},
		"fewer than asked": {hook.Selection{Phase: "Preempted", Queue: "batch", Limit: 5}, []string{"other"}},
		"any queue":        {hook.Selection{Phase: "Preempted", Limit: 9}, []string{"other", "early", "middle", "late"}},
		"no such phase":    {hook.Selection{Limit: 9}, nil},
		"no such queue":    {hook.Selection{Phase: "Preempted", Queue: "none", Limit: 9}, nil},
		"ended":            {hook.Selection{Phase: "Failed", Limit: 1}, []string{"bad"}},
	} {
		found, err := Selector{on}.Select(t.Context(), tc.selection)
		if err != nil {
			t.Fatal(name, err)
		}
		var names []string
		for _, run := range found {
			names = append(names, run["run"].(string))
		}
		if diff := cmp.Diff(tc.want, names); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	found, err := Selector{on}.Select(t.Context(), hook.Selection{Phase: "Preempted", Queue: "batch", Limit: 1})
	if err != nil || found[0]["queue"] != "batch" || found[0]["priority"] != "normal" || found[0]["phase"] != "Preempted" {
		t.Errorf("%v %v", found, err)
	}
	on["late"] = listed{"false", `{"metadata":`}
	if found, err := (Selector{on}).Select(t.Context(), hook.Selection{Phase: "Preempted", Queue: "research", Limit: 9}); err != nil || len(found) != 2 {
		t.Errorf("what cannot be read hides the others: %v %v", found, err)
	}
}
