package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
)

// invoker answers calls one after the other.
type invoker struct {
	answers []any // an error, or a body
	calls   []function.Call
	names   []string
}

func (i *invoker) Invoke(_ context.Context, name string, call function.Call) (function.Response, error) {
	i.calls, i.names = append(i.calls, call), append(i.names, name)
	answer := i.answers[min(len(i.calls), len(i.answers))-1]
	if err, ok := answer.(error); ok {
		return function.Response{}, err
	}
	return function.Response{Status: 201, Body: answer}, nil
}

func TestActCalls(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "event.sha"} }),
		hook.RouteSpec{Name: "tags", Function: "submit", Events: []string{"tag"}})
	out := accept(t, h, push(t, "refs/heads/main", ""))
	i := &invoker{answers: []any{map[string]any{"run": "pump-22", "created": true, "phase": "Pending", "status": "https://runhook.acme.example/functions/status?run=pump-22"}}}
	answer := h.Act(t.Context(), out, i)
	body, err := json.Marshal(answer.Decisions)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"event":0,"route":"train","call":"submit","run":"pump-22","created":true,"url":"https://runhook.acme.example/functions/status?run=pump-22"},{"event":0,"route":"tags","ignored":"event"}]`
	if string(body) != want || answer.Status != 202 || len(answer.Events) != 1 {
		t.Errorf("%d %s\nwant %s", answer.Status, body, want)
	}
	d := out.Decisions[0]
	call := function.Call{
		Caller: function.Caller{Name: "hook:acme/train", Everything: true},
		Body:   json.RawMessage(`{"id":"22"}`), Key: d.Key, Origin: d.Origin,
	}
	if diff := cmp.Diff([]function.Call{call}, i.calls); diff != "" {
		t.Error(diff)
	}
}

// The status of the whole, from what became of each decision.
func TestActStatus(t *testing.T) {
	done := map[string]any{"run": "a"}
	conflict, invalid := fault.New(fault.Conflict, "taken"), fault.New(fault.Invalid, "wrong")
	away, slow := &fault.Error{Kind: fault.BadUpstream, Detail: "nonsense"}, &fault.Error{Kind: fault.TooMany, Detail: "slowly", RetryAfter: 7 * time.Second}
	for name, tc := range map[string]struct {
		answers              []any
		github, alertmanager int
	}{
		"done":                 {[]any{done, done}, 202, 202},
		"not a run":            {[]any{"text", nil}, 202, 202},
		"one refused":          {[]any{conflict, done}, 202, 202},
		"the other refused":    {[]any{done, invalid}, 202, 202},
		"both refused":         {[]any{conflict, invalid}, 409, 200},
		"both, in other order": {[]any{invalid, conflict}, 422, 200},
		"one may succeed":      {[]any{done, away}, 503, 503},
		"refused and later":    {[]any{invalid, slow}, 503, 503},
		"all later":            {[]any{slow, away}, 503, 503},
		"a mistake of ours":    {[]any{errors.New("nil map"), errors.New("nil map")}, 500, 200},
		"superseded":           {[]any{map[string]any{"ignored": "superseded"}, map[string]any{"ignored": "superseded"}}, 200, 200},
		"superseded, refused":  {[]any{map[string]any{"ignored": "superseded"}, invalid}, 422, 200},
	} {
		for provider, want := range map[string]int{"github": tc.github, "alertmanager": tc.alertmanager} {
			t.Run(provider+" "+name, func(t *testing.T) {
				h := compile(t, provider, route(nil), hook.RouteSpec{Name: "second", Function: "cancel"})
				d := push(t, "refs/heads/main", "")
				if provider == "alertmanager" {
					d = notification(`{"version":"4","alerts":[{"status":"firing","fingerprint":"a","startsAt":"T"}]}`)
				}
				answer := h.Act(t.Context(), accept(t, h, d), &invoker{answers: tc.answers})
				if answer.Status != want {
					t.Errorf("status %d, want %d: %+v", answer.Status, want, answer.Decisions)
				}
				if after := answer.RetryAfter; (after == 7*time.Second) != (name == "refused and later" || name == "all later") {
					t.Errorf("retry after %s", after)
				}
			})
		}
	}
}

func TestActSuperseded(t *testing.T) {
	h := compile(t, "github", route(nil))
	answer := h.Act(t.Context(), accept(t, h, push(t, "refs/heads/main", "")), &invoker{answers: []any{map[string]any{"run": "", "ignored": "superseded"}}})
	if diff := cmp.Diff([]hook.Result{{Route: "train", Ignored: hook.IgnoredSuperseded}}, answer.Decisions); diff != "" {
		t.Error(diff)
	}
}

// What a function says of an unknown mistake does not reach a host.
func TestActErrors(t *testing.T) {
	h := compile(t, "github", route(nil))
	out := accept(t, h, push(t, "refs/heads/main", ""))
	for _, tc := range []struct {
		err  error
		want hook.Refusal
	}{
		{errors.New("token abc"), hook.Refusal{Code: 500, Detail: "internal error"}},
		{fault.New(fault.Conflict, "taken"), hook.Refusal{Code: 409, Detail: "taken"}},
		{&fault.Error{Kind: fault.Invalid, Detail: "not a run", Problems: []fault.Problem{{Path: "tasks[0].image", Detail: "is needed"}}}, hook.Refusal{Code: 422, Detail: "not a run: tasks[0].image: is needed"}},
	} {
		got := h.Act(t.Context(), out, &invoker{answers: []any{tc.err}}).Decisions[0].Error
		if got == nil || got.Code != tc.want.Code || got.Detail != tc.want.Detail {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
}

func TestActTriesAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h := compile(t, "github", route(nil))
	out := accept(t, h, push(t, "refs/heads/main", ""))
	away := fault.New(fault.Unavailable, "the cluster is away")
	i := &invoker{answers: []any{away, away, map[string]any{"run": "a"}}}
	answer := h.Act(ctx, out, i)
	if answer.Status != 202 || len(i.calls) != 3 {
		t.Errorf("status %d after %d calls", answer.Status, len(i.calls))
	}
	for _, kind := range fault.Kinds {
		if kind == fault.Unavailable {
			continue
		}
		i := &invoker{answers: []any{fault.New(kind, "no")}}
		if h.Act(ctx, out, i); len(i.calls) != 1 {
			t.Errorf("%s: %d calls", kind, len(i.calls))
		}
	}
}

// The context's end is the end of the tries; the answer says what was waited for.
func TestActEndsInTime(t *testing.T) {
	h := compile(t, "github", route(nil), hook.RouteSpec{Name: "second", Function: "cancel"})
	out := accept(t, h, push(t, "refs/heads/main", ""))
	ctx, cancel := context.WithCancel(t.Context())
	i := &invoker{answers: []any{fault.New(fault.Unavailable, "the cluster is away")}}
	calls := 0
	answer := h.Act(ctx, out, invokerFunc(func(ctx context.Context, name string, call function.Call) (function.Response, error) {
		if calls++; calls == 2 {
			cancel()
		}
		return i.Invoke(ctx, name, call)
	}))
	if answer.Status != 503 || calls != 2 {
		t.Errorf("status %d after %d calls", answer.Status, calls)
	}
	if first, second := answer.Decisions[0].Error, answer.Decisions[1].Error; first.Detail != "the cluster is away" || second.Code != 503 {
		t.Errorf("%+v %+v", first, second)
	}

	// A call that the deadline cut may succeed later, whatever error it gives.
	ctx, cancel = context.WithCancel(t.Context())
	answer = h.Act(ctx, out, invokerFunc(func(ctx context.Context, _ string, _ function.Call) (function.Response, error) {
		cancel()
		return function.Response{}, ctx.Err()
	}))
	if first := answer.Decisions[0].Error; answer.Status != 503 || first.Code != 503 {
		t.Errorf("status %d, %+v", answer.Status, first)
	}
}

type invokerFunc func(context.Context, string, function.Call) (function.Response, error)

func (f invokerFunc) Invoke(ctx context.Context, name string, call function.Call) (function.Response, error) {
	return f(ctx, name, call)
}

// The answer's JSON has both lists, whatever the delivery.
func TestAnswerJSON(t *testing.T) {
	h := compile(t, "alertmanager", route(nil))
	for body, want := range map[string]string{
		`{"version":"4","alerts":[]}`:                       `{"events":[],"decisions":[]}`,
		`{"version":"4","alerts":[],"truncatedAlerts":3}`:   `{"events":[],"decisions":[],"truncatedAlerts":3}`,
		`{"version":"4","alerts":[],"truncatedAlerts":-3}`:  `{"events":[],"decisions":[]}`,
		`{"version":"4","alerts":[],"truncatedAlerts":"x"}`: `{"events":[],"decisions":[]}`,
	} {
		answer := h.Act(t.Context(), accept(t, h, notification(body)), &invoker{})
		got, err := json.Marshal(answer)
		if err != nil || string(got) != want || answer.Status != 200 {
			t.Errorf("%d %s, want %s", answer.Status, got, want)
		}
	}
}
