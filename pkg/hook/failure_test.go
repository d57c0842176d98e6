package hook_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
)

// The answer says which expression failed, and why, in few words.
func TestDetailOfAMappingThatFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*hook.RouteSpec)
		want   string
	}{
		"when":             {func(r *hook.RouteSpec) { r.When = `payload.missing == "x"` }, `when: no such key: missing`},
		"when is no truth": {func(r *hook.RouteSpec) { r.When = `payload.after` }, `when: the condition is neither true nor false`},
		"set":              {func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "payload.missing"} }, `set.id: no such key: missing`},
		"set of a path":    {func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "'x'", "params.n": "payload.missing"} }, `set["params.n"]: no such key: missing`},
		"nothing failed":   {nil, ""},
		"when is false":    {func(r *hook.RouteSpec) { r.When = `false` }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := compile(t, "github", route(tc.change))
			out := accept(t, h, push(t, "refs/heads/main", "m"))
			answered := h.Act(t.Context(), out, &invoker{answers: []any{map[string]any{"run": "a"}}}).Decisions[0]
			if got := out.Decisions[0]; got.Detail != tc.want || answered.Detail != tc.want || (tc.want != "") != (answered.Ignored == hook.IgnoredMapping) {
				t.Errorf("%q, answered %+v, want %q", got.Detail, answered, tc.want)
			}
		})
	}
}

func TestDetailOfASelectionThatFailed(t *testing.T) {
	h := alerts(t, remembered{}, queueing{"research": {{}}})
	for body, want := range map[string]string{
		strings.Replace(firing, "queue", "lane", 1): `select.queue: no such key: queue`,
		firing: `set.run: no such key: run`, // of the run, once it is found
	} {
		got := h.Act(t.Context(), accept(t, h, notification(body)), &invoker{}).Decisions
		if len(got) != 1 || got[0].Ignored != hook.IgnoredMapping || got[0].Detail != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// CEL may quote what a sender wrote: never more than a little of it.
func TestDetailIsBounded(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.When = `event.labels[event.message] == ""` }))
	for _, letter := range []string{"x", "é", "語"} {
		got := decision(t, h, push(t, "refs/heads/main", strings.Repeat(letter, 10*limits.Quoted))).Detail
		if len(got) > limits.Quoted+len("…") || !strings.HasPrefix(got, "when: ") || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
