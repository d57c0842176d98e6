package alert

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/secret"
)

type called []function.Call

func (c *called) Invoke(_ context.Context, _ string, call function.Call) (function.Response, error) {
	*c = append(*c, call)
	return function.Response{Status: http.StatusOK, Body: map[string]any{"run": "a"}}, nil
}

func TestANotificationGoesThroughTheRoutes(t *testing.T) {
	h, problems := hook.Compile(hook.Spec{
		Path: "alerts", Provider: "alertmanager",
		Routes: []hook.RouteSpec{{Name: "free", Function: "cancel", Set: map[string]string{"run": "event.labels.run"}}},
	}, []secret.Value{secret.Of("s")}, hook.Options{Functions: []string{"cancel"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	calls := &called{}
	f := New(map[string]*hook.Hook{"alerts": h}, calls)
	ask := func(body string) (function.Response, error) {
		return f.Handle(t.Context(), function.Call{Caller: function.Caller{Name: "sensor", Hooks: []string{"alerts"}}, Body: json.RawMessage(body)})
	}
	got, err := ask(`{"hook": "alerts", "payload": {"version": "4", "alerts": [
		{"status": "firing", "fingerprint": "a1", "startsAt": "T", "labels": {"run": "a"}}, {"status": "resolved", "fingerprint": "b2", "labels": {"run": "b"}}]}}`)
	if err != nil || got.Status != http.StatusAccepted || len(*calls) != 1 || string((*calls)[0].Body) != `{"run":"a"}` {
		t.Errorf("%+v %v %+v", got, err, *calls)
	}
	for body, kind := range map[string]fault.Kind{
		`{"hook": "alerts", "payload": {"version": "5", "alerts": []}}`: fault.Malformed,
		`{"hook": "alerts"}`:                              fault.Invalid,
		`{"hook": "acme", "payload": {}}`:                 fault.Forbidden,
		`{"hook": "alerts", "payload": {}, "event": "x"}`: fault.Invalid,
	} {
		if _, err := ask(body); fault.KindOf(err) != kind {
			t.Errorf("%s: %v, want %s", body, err, kind)
		}
	}
}
