package hook_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

// remembered is a memory without a cluster.
type remembered map[string]bool

func (r remembered) Do(_ context.Context, key string, act func() bool) (bool, error) {
	if r[key] {
		return false, nil
	}
	r[key] = act()
	return true, nil
}

// queueing are the runs that wait in each queue.
type queueing map[string][]map[string]any

func (q queueing) Select(_ context.Context, s hook.Selection) ([]map[string]any, error) {
	if q == nil {
		return nil, fault.New(fault.Unavailable, "away")
	}
	return q[s.Queue][:min(s.Limit, len(q[s.Queue]))], nil
}

func alerts(t *testing.T, memory hook.Memory, runs hook.Runs) *hook.Hook {
	t.Helper()
	h, problems := hook.Compile(hook.Spec{Path: "alerts", Provider: "alertmanager", Routes: []hook.RouteSpec{{
		Name: "free", Function: "reserve",
		Select:  &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}, Queue: hook.Text{CEL: "event.labels.queue"}, Limit: 2},
		Request: map[string]any{"node": "n1"}, Set: map[string]string{"run": "run.run"},
	}}}, values([]string{lamp}), hook.Options{Functions: functions, Memory: memory, Runs: runs})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return h
}

const firing = `{"version":"4","alerts":[{"status":"firing","labels":{"queue":"research"},"startsAt":"T","fingerprint":"a1"}]}`

func TestAnAlertCallsForEachOfItsRuns(t *testing.T) {
	waiting := queueing{"research": {{"run": "a"}, {"run": "b"}, {"run": "c"}}}
	h := alerts(t, remembered{}, waiting)
	i := &invoker{answers: []any{map[string]any{"node": "n1"}}}
	send := func() hook.Answer { return h.Act(t.Context(), accept(t, h, notification(firing)), i) }
	if got := send(); got.Status != 202 || len(got.Decisions) != 2 {
		t.Fatalf("%+v", got)
	}
	if a, b := i.calls[0], i.calls[1]; string(a.Body) != `{"node":"n1","run":"a"}` || string(b.Body) != `{"node":"n1","run":"b"}` || a.Key == b.Key {
		t.Errorf("%+v %+v", a, b)
	}
	want := []hook.Result{{Route: "free", Ignored: hook.IgnoredDuplicate}}
	if got := send(); cmp.Diff(want, got.Decisions) != "" || got.Status != 200 || len(i.calls) != 2 {
		t.Errorf("sent again: %+v", got)
	}
}

// What came to nothing is tried again when the alert comes again.
func TestAnAlertThatCameToNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		runs   queueing
		answer any
		status int
		says   hook.Reason
	}{
		"no run":      {queueing{}, nil, 200, hook.IgnoredNoMatch},
		"no cluster":  {nil, nil, 503, ""},
		"refused":     {queueing{"research": {{"run": "a"}}}, fault.New(fault.Invalid, "no"), 200, ""},
		"no run name": {queueing{"research": {{}}}, nil, 200, hook.IgnoredMapping},
	} {
		memory := remembered{}
		h := alerts(t, memory, tc.runs)
		got := h.Act(t.Context(), accept(t, h, notification(firing)), &invoker{answers: []any{tc.answer}})
		if got.Status != tc.status || got.Decisions[0].Ignored != tc.says {
			t.Errorf("%s: %+v", name, got)
		}
		for _, done := range memory {
			if done {
				t.Errorf("%s: taken for done", name)
			}
		}
	}
}
