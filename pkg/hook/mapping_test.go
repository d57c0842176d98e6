package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

func TestSet(t *testing.T) {
	const body = `{"ref":"refs/heads/main","before":"11","after":"22","big":9007199254740993,"neg":-9223372036854775808,"half":0.5,"beyond":18446744073709551616,
		"null":null,"list":[1,"x",{"a":true}],"text":"{{x}} $(Y) \u00e9 \ud83d\udd27 <b>&</b>\u2028","lone":"a\ud83db","commits":[{"id":"22","message":"tune","added":["a"],"modified":[],"removed":[]}]}`
	for name, tc := range map[string]struct {
		request map[string]any
		set     map[string]string
		want    string
	}{
		"nothing":           {nil, nil, `{}`},
		"literal":           {map[string]any{"a": 1.0, "b": []any{"x"}}, nil, `{"a":1,"b":["x"]}`},
		"over a literal":    {map[string]any{"a": "x"}, map[string]string{"a": "event.sha"}, `{"a":"22"}`},
		"parents are made":  {nil, map[string]string{"a.b[0].c": "event.sha", "a.b[1].c": "event.ref"}, `{"a":{"b":[{"c":"22"},{"c":"refs/heads/main"}]}}`},
		"lists grow":        {map[string]any{"t": []any{"x"}}, map[string]string{"t[1]": "'y'", "t[0]": "'z'"}, `{"t":["z","y"]}`},
		"eleven entries":    {nil, map[string]string{"t[0]": "0", "t[1]": "1", "t[2]": "2", "t[3]": "3", "t[4]": "4", "t[5]": "5", "t[6]": "6", "t[7]": "7", "t[8]": "8", "t[9]": "9", "t[10]": "10"}, `{"t":[0,1,2,3,4,5,6,7,8,9,10]}`},
		"lists of lists":    {nil, map[string]string{"t[0][0]": "1"}, `{"t":[[1]]}`},
		"whole numbers":     {nil, map[string]string{"a": "payload.big", "b": "payload.neg", "c": "payload.big + 1"}, `{"a":9007199254740993,"b":-9223372036854775808,"c":9007199254740994}`},
		"other numbers":     {nil, map[string]string{"a": "payload.half", "b": "payload.beyond", "c": "18446744073709551615u"}, `{"a":0.5,"b":18446744073709552000,"c":18446744073709551615}`},
		"null":              {nil, map[string]string{"a": "payload['null']"}, `{"a":null}`},
		"a list":            {nil, map[string]string{"a": "payload.list", "b": "event.paths"}, `{"a":[1,"x",{"a":true}],"b":["a"]}`},
		"a filtered list":   {nil, map[string]string{"a": "payload.list.filter(x, type(x) == int)"}, `{"a":[1]}`},
		"an object":         {nil, map[string]string{"a": "{'x': event.forced}", "b": "event.repo"}, `{"a":{"x":false},"b":{"cloneURL":"","fullName":"","host":""}}`},
		"text stays text":   {nil, map[string]string{"a": "payload.text"}, `{"a":"{{x}} $(Y) é 🔧 \u003cb\u003e\u0026\u003c/b\u003e\u2028"}`},
		"a lone surrogate":  {nil, map[string]string{"a": "payload.lone"}, `{"a":"a` + "\ufffd" + `b"}`},
		"a time":            {nil, map[string]string{"a": "timestamp('2026-01-02T03:04:05+01:00')", "b": "duration('90s')"}, `{"a":"2026-01-02T02:04:05Z","b":"1m30s"}`},
		"bytes":             {nil, map[string]string{"a": "b'abc'"}, `{"a":"YWJj"}`},
		"texts' functions":  {nil, map[string]string{"a": "event.ref.split('/')[2].upperAscii()"}, `{"a":"MAIN"}`},
		"whether there":     {nil, map[string]string{"a": "has(payload.missing)", "b": "has(event.message)"}, `{"a":false,"b":true}`},
		"a name with signs": {nil, map[string]string{"env.RUN_ID-2": "event.sha"}, `{"env":{"RUN_ID-2":"22"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Request, r.Set = tc.request, tc.set }))
			for range 2 { // the literal stays as it is
				if diff := cmp.Diff(tc.want, string(decision(t, h, github(body)).Request)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// What fails only on some payloads is ignored, and never a 4xx.
func TestSetFailures(t *testing.T) {
	for _, expression := range []string{
		"payload.missing", "payload.list[9]", "payload.text + 1", "1 / (size(event.paths) - size(event.paths))",
		"timestamp(event.committed)", "0.0 / 0.0", "payload.beyond", "{1: 'a'}", "type(event)", "int(payload.text)",
		"payload.text.matches(payload.text)",
	} {
		h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Set = map[string]string{"a": expression} }))
		d := decision(t, h, github(`{"ref":"refs/heads/main","after":"22","text":"(","list":[]}`))
		if d.Ignored != hook.IgnoredMapping || d.Call != "" || d.Request != nil {
			t.Errorf("%s: %+v", expression, d)
		}
	}
}

// A value whose type only the payload decides may be none that the function
// takes: that is a mapping that fails, and no 422 to a host.
func TestSetOfAnotherTypeThanTheFunctionTakes(t *testing.T) {
	spec := hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{{
		Name: "train", Function: "submit", Set: map[string]string{"queue": "payload.queue"},
	}}}
	takesText := func(_ string, request json.RawMessage) error {
		return strict.JSON(request, &struct {
			Queue string `json:"queue"`
		}{})
	}
	h, problems := hook.Compile(spec, []secret.Value{secret.Of(lamp)}, hook.Options{Functions: []string{"submit"}, CheckRequest: takesText})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for value, want := range map[string]hook.Reason{`"research"`: "", `5`: hook.IgnoredMapping, `["a"]`: hook.IgnoredMapping, `null`: hook.IgnoredMapping} {
		d := decision(t, h, github(`{"ref":"refs/heads/main","after":"22","queue":`+value+`}`))
		if d.Ignored != want || (d.Request == nil) != (want != "") || strings.HasPrefix(d.Detail, "set.queue: text is asked for") != (want != "") {
			t.Errorf("%s: %+v", value, d)
		}
	}
}

// A message is data, byte for byte, through an expression that only passes it on.
func TestMessageStaysAsItIs(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Set = map[string]string{"params.message": "event.message"} }))
	message := "fix \"quotes\"\n\\n {{workflow.name}} {{=1}} $(RUN) $$ \t'\x00 end" + strings.Repeat("{", 100)
	d := decision(t, h, push(t, "refs/heads/main", message))
	if got := textAt(t, d.Request, "params", "message"); got != message {
		t.Errorf("%q", got)
	}
}

func TestSelect(t *testing.T) {
	h := compileSpec(t, hook.Spec{Path: "alerts", Provider: "alertmanager", Routes: []hook.RouteSpec{{
		Name: "free", Function: "reserve",
		Select:  &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}, Queue: hook.Text{CEL: "event.labels.queue"}},
		Request: map[string]any{"node": "n1"}, Set: map[string]string{"run": "run.run"},
	}}}, lamp)
	out := accept(t, h, notification(twoAlerts))
	d := out.Decisions[0]
	if diff := cmp.Diff(&hook.Selection{Phase: "Preempted", Queue: "research", Limit: 1}, d.Select); diff != "" || d.Request != nil || d.Call != "reserve" {
		t.Fatalf("%s %+v", diff, d)
	}
	request, err := d.RequestFor(map[string]any{"run": "pump-1"})
	if err != nil || string(request) != `{"node":"n1","run":"pump-1"}` {
		t.Errorf("request %s, %v", request, err)
	}
	if _, err := d.RequestFor(map[string]any{}); err == nil {
		t.Error("a run without its name makes a request")
	}
	// No queue on the alert: not any queue, but a mapping that fails.
	out = accept(t, h, notification(`{"version":"4","alerts":[{"status":"firing","fingerprint":"a","startsAt":"T"}]}`))
	if got := out.Decisions[0]; got.Ignored != hook.IgnoredMapping {
		t.Errorf("%+v", got)
	}
}
