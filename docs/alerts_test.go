package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// TestTheReplacementCancelsTheFirstRun sends the event of a run through the
// sink of alerts.md to the hook of the same page.
func TestTheReplacementCancelsTheFirstRun(t *testing.T) {
	blocks, err := Blocks(root, "docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	c, table := parse(t, blocks[0].String(), []byte(blocks[0].Text))
	var decisions []hook.Decision
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		outcome, err := table.Hooks()["state"].Accept(hook.Delivery{Header: r.Header, Body: body}, time.Now())
		if err != nil {
			t.Error(err)
		}
		decisions = append(decisions, outcome.Decisions...)
	}))
	defer server.Close()
	for route, ignored := range map[string]hook.Reason{"alerts/resubmit": "", "acme/train": hook.IgnoredWhen} {
		decisions = nil
		for _, s := range c.Sinks {
			if s.Name != "state" {
				continue
			}
			s.URL = server.URL
			receiver, err := sink.NewHTTP(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range event.Of(running(t, route), nil, "/namespaces/runs") {
				if _, err := receiver.Order(e); err != nil {
					continue // it is of no type that the sink wants
				}
				if err := receiver.Post(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(decisions) != 1 || decisions[0].Ignored != ignored {
			t.Fatalf("%s: %+v", route, decisions)
		}
		if ignored != "" {
			continue
		}
		var request struct{ Run string }
		if err := json.Unmarshal(decisions[0].Request, &request); err != nil || decisions[0].Call != "cancel" || request.Run != "pump" {
			t.Errorf("%s %s, %v", decisions[0].Call, decisions[0].Request, err)
		}
	}
}

// running is the second run of `pump`, which a route has submitted.
func running(t *testing.T, route string) *status.Workflow {
	t.Helper()
	w, err := status.Decode(fmt.Appendf(nil, `{
		"metadata": {"name": "pump-high", "uid": "u", "labels": {%q: "pump-high"}, "annotations": {"runhook/source": "{\"route\":\"%s\"}"}},
		"status": {"phase": "Running", "nodes": {"pump-high": {"id": "pump-high", "name": "pump-high", "type": "Pod", "phase": "Running"}}}
	}`, owner.RunLabel, route))
	if err != nil {
		t.Fatal(err)
	}
	return w
}
