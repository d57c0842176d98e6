package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/strict"
)

// Every mistake that a config can hold, with its path and how its text begins.
func TestCompileProblems(t *testing.T) {
	change := func(change func(*hook.RouteSpec)) hook.Spec {
		return hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{route(change)}}
	}
	of := func(provider string, r hook.RouteSpec) hook.Spec {
		return hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{r}}
	}
	for name, tc := range map[string]struct {
		spec hook.Spec
		want []string
	}{
		"right":           {change(nil), nil},
		"path":            {hook.Spec{Path: "Acme/x", Provider: "github", Routes: []hook.RouteSpec{route(nil)}}, []string{`path: "Acme/x" is not a DNS label`}},
		"no path":         {hook.Spec{Provider: "github", Routes: []hook.RouteSpec{route(nil)}}, []string{`path: "" is not`}},
		"provider":        {hook.Spec{Path: "acme", Provider: "gogs", Routes: []hook.RouteSpec{route(nil)}}, []string{`provider: "gogs" is none of alertmanager, bearer, bitbucket`}},
		"no routes":       {hook.Spec{Path: "acme", Provider: "github"}, []string{`routes: a hook without`}},
		"hmac's fields":   {hook.Spec{Path: "acme", Provider: "github", Header: "X", Routes: []hook.RouteSpec{route(nil)}}, []string{`provider: header, algorithm`}},
		"no header":       {of("hmac", route(nil)), []string{`header: name the header`}},
		"hmac all wrong":  {hook.Spec{Path: "acme", Provider: "hmac", Header: "a b", Algorithm: "md5", DeliveryHeader: "c:d", Routes: []hook.RouteSpec{route(nil)}}, []string{`algorithm: "md5"`, `deliveryHeader: "c:d"`, `header: name`}},
		"secret":          {of("standard-webhooks", route(nil)), []string{`secrets[0]: a signing secret is written whsec_`}},
		"route's name":    {change(func(r *hook.RouteSpec) { r.Name = "Train_1" }), []string{`routes[0].name: "Train_1" is not a DNS label`}},
		"name twice":      {hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{route(nil), route(nil)}}, []string{`routes[1].name: "train" is the name of another`}},
		"event":           {change(func(r *hook.RouteSpec) { r.Events = []string{"push", "psuh", "pull_request"} }), []string{`routes[0].events[1]: "psuh" is neither`}},
		"another's event": {of("hmac", route(func(r *hook.RouteSpec) { r.Events = []string{"pull_request"} })), []string{`header`, `routes[0].events[0]: "pull_request" is neither`}},
		"unsigned ping":   {of("bitbucket-server", route(func(r *hook.RouteSpec) { r.Events = []string{"ping", "diagnostics:ping"} })), []string{`routes[0].events[0]: bitbucket-server does not sign`, `routes[0].events[1]`}},
		"globs": {change(func(r *hook.RouteSpec) {
			r.Branches, r.Tags, r.Paths = []string{"["}, []string{"", "v*"}, []string{"**", "!"}
		}), []string{`routes[0].branches[0]: "[" is not a glob`, `routes[0].paths[1]: "!"`, `routes[0].tags[0]: ""`}},
		"only exclusions": {change(func(r *hook.RouteSpec) { r.Paths = []string{"!docs/**"} }), []string{`routes[0].paths: only exclusions`}},
		"when's grammar":  {change(func(r *hook.RouteSpec) { r.When = `event.ref ==` }), []string{`routes[0].when: not a CEL expression`}},
		"when's name":     {change(func(r *hook.RouteSpec) { r.When = `event.branhc == "main"` }), []string{`routes[0].when: not a CEL expression: undefined field 'branhc' (line 1, column 6)`}},
		"when's variable": {change(func(r *hook.RouteSpec) { r.When = `run.phase == "x"` }), []string{`routes[0].when: not a CEL expression: undeclared reference to 'run'`}},
		"when's operands": {change(func(r *hook.RouteSpec) { r.When = `event.forced == "yes"` }), []string{`routes[0].when: not a CEL expression: found no matching overload`}},
		"when's type":     {change(func(r *hook.RouteSpec) { r.When = `event.ref` }), []string{`routes[0].when: gives a string`}},
		"when is unknown": {change(func(r *hook.RouteSpec) { r.When = `payload.draft` }), nil},
		"function":        {change(func(r *hook.RouteSpec) { r.Function = "sumbit" }), []string{`routes[0].function: "sumbit" is none of submit, reserve, cancel`}},
		"supersede":       {change(func(r *hook.RouteSpec) { r.Function, r.Supersede = "cancel", true }), []string{`routes[0].supersede: only runs`}},
		"select":          {change(func(r *hook.RouteSpec) { r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}} }), []string{`routes[0].select: only alerts`}},
		"select's fields": {of("alertmanager", route(func(r *hook.RouteSpec) { r.Select = &hook.SelectSpec{Limit: -1, Queue: hook.Text{CEL: "event.forced"}} })), []string{`routes[0].select.limit: -1`, `routes[0].select.phase: say which`, `routes[0].select.queue: gives a bool`}},
		"select's queue is an expression": {of("alertmanager", route(func(r *hook.RouteSpec) {
			r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}, Queue: hook.Text{Literal: "event.labels.queue"}}
		})), []string{`routes[0].select.queue: is the queue's name as it is written; an expression is {cel: event.labels.queue}`}},
		"select's queue is none": {of("alertmanager", route(func(r *hook.RouteSpec) {
			r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}, Queue: hook.Text{Literal: "event['queue']"}}
		})), []string{`routes[0].select.queue: "event['queue']" is no name of a queue`}},
		"select's queue has a dot": {of("alertmanager", route(func(r *hook.RouteSpec) {
			r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}, Queue: hook.Text{Literal: "team.research"}}
		})), nil},
		"fields of a run": {of("alertmanager", route(func(r *hook.RouteSpec) {
			r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "Preempted"}}
			r.Set = map[string]string{"a": "run.run + run.phase + run.queue + run.priority", "b": "run.tasks.fit.phase", "c": "has(run.ended) && run['any'] == 1", "id": "run.id", "nix": "'x' + run.nix.run"}
		})), []string{`routes[0].set.id: not a CEL expression: undefined field 'id'; run has attempts, ended, message, phase, resourceVersion, run, started, tasks, queue, priority (line 1, column 4)`, `routes[0].set.nix: not a CEL expression: undefined field 'nix'`}},
		"set's path": {change(func(r *hook.RouteSpec) {
			r.Set = map[string]string{"a..b": "event.sha", "tasks[01].id": "event.sha", "a.b": "event.sha"}
		}), []string{`routes[0].set["a..b"]: "a..b" is not a path`, `routes[0].set["tasks[01].id"]: "tasks[01].id" is not`}},
		"set's expression": {change(func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "event.shaa"} }), []string{`routes[0].set.id: not a CEL expression: undefined field 'shaa'`}},
		"set within set": {change(func(r *hook.RouteSpec) {
			r.Set = map[string]string{"params": "event.labels", "params.sha": "event.sha"}
		}), []string{`routes[0].set["params.sha"]: lies within params`}},
		"set into a text": {change(func(r *hook.RouteSpec) {
			r.Request = map[string]any{"id": "x"}
			r.Set = map[string]string{"id.y": "event.sha"}
		}), []string{`routes[0].set["id.y"]: what "y" should stand in is not an object`}},
		"set into a list": {change(func(r *hook.RouteSpec) {
			r.Request = map[string]any{"tasks": []any{}}
			r.Set = map[string]string{"tasks.id": "event.sha"}
		}), []string{`routes[0].set["tasks.id"]: what "id"`}},
		"index of object": {change(func(r *hook.RouteSpec) {
			r.Request = map[string]any{"env": map[string]any{}}
			r.Set = map[string]string{"env[0]": "event.sha"}
		}), []string{`routes[0].set["env[0]"]: what [0]`}},
		"a gap": {change(func(r *hook.RouteSpec) {
			r.Set = map[string]string{"tasks[0].id": "event.sha", "tasks[2].id": "event.sha"}
		}), []string{`routes[0].set["tasks[2].id"]: [2] would leave a gap: the list has 1 entries`}},
		"all at once": {hook.Spec{Path: "A", Provider: "github", Routes: []hook.RouteSpec{{Name: "B", Function: "c", When: "d", Events: []string{"e"}}}}, []string{`path`, `routes[0].events[0]`, `routes[0].function`, `routes[0].name`, `routes[0].when`}},
	} {
		t.Run(name, func(t *testing.T) {
			h, problems := hook.Compile(tc.spec, values([]string{lamp}), hook.Options{Functions: functions})
			if (h == nil) != (len(tc.want) > 0) {
				t.Errorf("a hook with problems, or none without")
			}
			compare := cmp.Comparer(func(got, want string) bool { return strings.HasPrefix(got, want) || strings.HasPrefix(want, got) })
			if diff := cmp.Diff(tc.want, told(problems), compare, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where no secret was looked up nothing is proven by none.
func TestAHookWithoutItsSecretsTakesNothing(t *testing.T) {
	for provider := range hook.Providers {
		spec := hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{route(nil)}}
		if provider == "hmac" {
			spec.Header = "X-Signature"
		}
		h, problems := hook.Compile(spec, values([]string{""}), hook.Options{Functions: functions, WithoutSecrets: true})
		if h == nil {
			t.Errorf("%s: %v", provider, problems)
			continue
		}
		body := `{"ref":"refs/heads/main"}`
		empty := sign("", []byte(body))
		d := hook.Delivery{Header: headers("X-GitHub-Event: push", "X-Hub-Signature-256: sha256="+empty, "X-Hub-Signature: sha256="+empty, "X-Gitea-Signature: "+empty,
			"X-Signature: "+empty, "X-Gitlab-Token: ", "Authorization: Bearer "), Body: []byte(body)}
		if _, err := h.Accept(d, noon); fault.KindOf(err) != fault.Unproven {
			t.Errorf("%s: %v", provider, err)
		}
	}
}

func told(problems []fault.Problem) []string {
	var list []string
	for _, p := range problems {
		list = append(list, p.String())
	}
	return list
}

func TestSelectOfAPhaseThatIsNone(t *testing.T) {
	spec := hook.Spec{Path: "a", Provider: "alertmanager", Routes: []hook.RouteSpec{route(func(r *hook.RouteSpec) {
		r.Select = &hook.SelectSpec{Phase: hook.Text{Literal: "preempted"}}
	})}}
	_, problems := hook.Compile(spec, values([]string{lamp}), hook.Options{Functions: functions})
	want := `routes[0].select.phase: "preempted" is none of Pending, Preempted, Retrying, Running, Succeeded, Failed, Stopped, Skipped`
	if diff := cmp.Diff([]string{want}, told(problems)); diff != "" {
		t.Error(diff)
	}
}

// The function looks at the literal request, with samples where set fills.
func TestRequestIsCheckedAtLoad(t *testing.T) {
	spec := hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{route(func(r *hook.RouteSpec) {
		r.Request = map[string]any{"tasks": []any{map[string]any{"id": "fit"}}}
		r.Set = map[string]string{
			"params.sha": "event.sha", "params.count": "size(event.paths)", "params.any": "payload.x", "params.forced": "event.forced",
			"tasks[0].env": "event.labels", "tasks[0].command": "event.paths", "tasks[1].id": "string(1.5)", "at": "timestamp(event.committed)", "half": "0.5",
		}
	})}}
	var seen string
	opts := hook.Options{Functions: functions, CheckRequest: func(function string, request json.RawMessage) error {
		seen = function + " " + string(request)
		return nil
	}}
	if _, problems := hook.Compile(spec, values([]string{lamp}), opts); problems != nil {
		t.Fatal(problems)
	}
	want := `submit {"at":"2026-01-01T00:00:00Z","half":1.5,"params":{"any":"x","count":1,"forced":true,"sha":"x"},"tasks":[{"command":[],"env":{},"id":"fit"},{"id":"x"}]}`
	if seen != want {
		t.Errorf("checked %s\nwant    %s", seen, want)
	}

	invalid := func(paths ...string) func(string, json.RawMessage) error {
		return func(string, json.RawMessage) error {
			var list fault.List
			for _, path := range paths {
				list.Add(path, "wrong")
			}
			return list.Err(fault.Invalid, "not a run")
		}
	}
	for name, tc := range map[string]struct {
		opts hook.Options
		want []string
	}{
		"keys and types count everywhere": {
			hook.Options{CheckRequest: invalid("params.sha", "tasks[0].idd", "")},
			[]string{"routes[0].request: wrong", "routes[0].request.tasks[0].idd: wrong", `routes[0].set["params.sha"]: wrong`},
		},
		"meaning does not where set fills": {
			hook.Options{ValidateRequest: invalid("params.sha", "params", "tasks[1].id", "tasks[0].env.A", "tasks[0].image", "tasks[10]")},
			[]string{"routes[0].request.tasks[0].image: wrong", "routes[0].request.tasks[10]: wrong"},
		},
		"without a path": {
			hook.Options{CheckRequest: func(string, json.RawMessage) error { return fault.New(fault.Malformed, "no") }},
			[]string{"routes[0].request: no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.opts.Functions = functions
			_, problems := hook.Compile(spec, values([]string{lamp}), tc.opts)
			if diff := cmp.Diff(tc.want, told(problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An expression whose type only a delivery shows may fill any field that is
// there, and no other.
func TestRequestWithUntypedFields(t *testing.T) {
	check := func(_ string, request json.RawMessage) error {
		var r struct {
			ID     string            `json:"id"`
			Params map[string]string `json:"params"`
			Tasks  []run.Task        `json:"tasks"`
		}
		return strict.JSON(request, &r)
	}
	for name, tc := range map[string]struct {
		set  map[string]string
		want []string
	}{
		"all kinds": {map[string]string{
			"id": "payload.a", "params.x": "payload.b", "tasks[0].id": "'a'", "tasks[0].command": "payload.c", "tasks[0].resources": "payload.d",
			"tasks[0].split.workers": "payload.e", "tasks[0].env.A": "payload.f", "tasks[0].mounts[0].readOnly": "payload.g",
		}, nil},
		"unknown key":    {map[string]string{"idd": "payload.a"}, []string{"routes[0].set.idd: "}},
		"unknown parent": {map[string]string{"parms.x": "payload.a"}, []string{"routes[0].request.parms: "}},
		"wrong type":     {map[string]string{"id": "1"}, []string{"routes[0].set.id: text is asked for, not a number; write string(…)"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{route(func(r *hook.RouteSpec) { r.Set = tc.set })}}
			_, problems := hook.Compile(spec, values([]string{lamp}), hook.Options{Functions: functions, CheckRequest: check})
			got := told(problems)
			if len(got) != len(tc.want) {
				t.Fatalf("%q", got)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tc.want[i]) {
					t.Errorf("%q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
}
