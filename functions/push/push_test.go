package push

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

// submitted notes the calls that routes make.
type submitted struct {
	calls []function.Call
	err   error
}

func (s *submitted) Invoke(_ context.Context, _ string, call function.Call) (function.Response, error) {
	s.calls = append(s.calls, call)
	return function.Response{Status: http.StatusCreated, Body: map[string]any{"run": "r", "created": true}}, s.err
}

func hooks(t *testing.T) map[string]*hook.Hook {
	t.Helper()
	compiled, problems := hook.Compile(hook.Spec{
		Path: "acme", Provider: "github",
		Routes: []hook.RouteSpec{{Name: "train", Branches: []string{"main"}, Function: "submit", Set: map[string]string{"params.sha": "event.sha"}}},
	}, []secret.Value{secret.Of("s")}, hook.Options{
		Functions:       []string{"submit"},
		CheckRequest:    func(string, json.RawMessage) error { return nil },
		ValidateRequest: func(string, json.RawMessage) error { return nil },
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return map[string]*hook.Hook{"acme": compiled}
}

const payload = `{"ref": "refs/heads/main", "after": "1f3c9a2b00000000000000000000000000000000", "repository": {"full_name": "acme/pump"}}`

func TestPushGoesThroughTheRoutes(t *testing.T) {
	invoker := &submitted{}
	f := New(hooks(t), invoker)
	sensor := function.Caller{Name: "sensor", Hooks: []string{"acme"}}
	got, err := f.Handle(context.Background(), function.Call{Caller: sensor, Body: json.RawMessage(`{"hook": "acme", "event": "push", "delivery": "d1", "payload": ` + payload + `}`)})
	if err != nil || got.Status != http.StatusAccepted {
		t.Fatal(got, err)
	}
	if len(invoker.calls) != 1 {
		t.Fatalf("%d calls", len(invoker.calls))
	}
	call := invoker.calls[0]
	if string(call.Body) != `{"params":{"sha":"1f3c9a2b00000000000000000000000000000000"}}` {
		t.Errorf("request %s", call.Body)
	}
	// The run is the hook's, whoever handed the push over: so that a push
	// that comes both ways is one run.
	if call.Caller.Name != "hook:acme/train" || call.Key == "" || call.Origin.SHA == "" {
		t.Errorf("call %+v", call)
	}
}

func TestARefusalKeepsItsStatus(t *testing.T) {
	f := New(hooks(t), &submitted{err: fault.New(fault.Conflict, "the name is taken")})
	got, err := f.Handle(context.Background(), function.Call{Caller: function.Caller{Everything: true}, Body: json.RawMessage(`{"hook": "acme", "event": "push", "payload": ` + payload + `}`)})
	if err != nil || got.Status != http.StatusConflict {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		caller function.Caller
		body   string
		kind   fault.Kind
	}{
		"not the caller's hook": {function.Caller{Hooks: []string{"other"}}, `{"hook": "acme", "event": "push", "payload": {}}`, fault.Forbidden},
		"no such hook":          {function.Caller{Hooks: []string{"other"}}, `{"hook": "other", "event": "push", "payload": {}}`, fault.Invalid},
		"no payload":            {function.Caller{Hooks: []string{"acme"}}, `{"hook": "acme", "event": "push"}`, fault.Invalid},
		"nothing":               {function.Caller{}, `{}`, fault.Invalid},
		"a payload without ref": {function.Caller{Hooks: []string{"acme"}}, `{"hook": "acme", "event": "push", "payload": {}}`, fault.Malformed},
	} {
		invoker := &submitted{}
		_, err := New(hooks(t), invoker).Handle(context.Background(), function.Call{Caller: tc.caller, Body: json.RawMessage(tc.body)})
		if fault.KindOf(err) != tc.kind || len(invoker.calls) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
