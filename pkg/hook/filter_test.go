package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/hook"
)

// push is a push of GitHub with one commit that changes files.
func push(t testing.TB, ref, message string, files ...string) hook.Delivery {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"ref": ref, "before": "11", "after": "22",
		"sender":     map[string]any{"login": "ada"},
		"repository": map[string]any{"full_name": "acme/pump-models", "clone_url": "https://github.com/acme/pump-models.git"},
		"commits":    []any{map[string]any{"id": "22", "message": message, "added": []any{}, "removed": []any{}, "modified": files}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return github(string(body))
}

func TestFilters(t *testing.T) {
	no := false
	for name, tc := range map[string]struct {
		change       func(*hook.RouteSpec)
		ref, message string
		files        []string
		want         hook.Reason
	}{
		"all branches":           {nil, "refs/heads/a/b", "", nil, ""},
		"no tags":                {nil, "refs/tags/v1", "", nil, hook.IgnoredTag},
		"the branch":             {func(r *hook.RouteSpec) { r.Branches = []string{"main"} }, "refs/heads/main", "", nil, ""},
		"another branch":         {func(r *hook.RouteSpec) { r.Branches = []string{"main"} }, "refs/heads/mainly", "", nil, hook.IgnoredBranch},
		"case counts":            {func(r *hook.RouteSpec) { r.Branches = []string{"main"} }, "refs/heads/Main", "", nil, hook.IgnoredBranch},
		"star stops at /":        {func(r *hook.RouteSpec) { r.Branches = []string{"release/*"} }, "refs/heads/release/1/2", "", nil, hook.IgnoredBranch},
		"two stars do not":       {func(r *hook.RouteSpec) { r.Branches = []string{"release/**"} }, "refs/heads/release/1/2", "", nil, ""},
		"branch glob and tag":    {func(r *hook.RouteSpec) { r.Branches = []string{"*"} }, "refs/tags/v1", "", nil, hook.IgnoredTag},
		"tag glob and branch":    {func(r *hook.RouteSpec) { r.Tags = []string{"*"} }, "refs/heads/main", "", nil, hook.IgnoredBranch},
		"the tag":                {func(r *hook.RouteSpec) { r.Tags = []string{"v*"} }, "refs/tags/v1", "", nil, ""},
		"another tag":            {func(r *hook.RouteSpec) { r.Tags = []string{"v*"} }, "refs/tags/w1", "", nil, hook.IgnoredTag},
		"both":                   {func(r *hook.RouteSpec) { r.Branches, r.Tags = []string{"main"}, []string{"v*"} }, "refs/tags/v1", "", nil, ""},
		"tags by type":           {func(r *hook.RouteSpec) { r.Events = []string{"tag"} }, "refs/tags/w1", "", nil, ""},
		"tags by type, filtered": {func(r *hook.RouteSpec) { r.Events, r.Tags = []string{"tag"}, []string{"v*"} }, "refs/tags/w1", "", nil, hook.IgnoredTag},
		"only tags by type":      {func(r *hook.RouteSpec) { r.Events = []string{"tag"} }, "refs/heads/main", "", nil, hook.IgnoredEvent},
		"neither":                {func(r *hook.RouteSpec) { r.Branches = []string{"**"} }, "refs/notes/x", "", nil, hook.IgnoredBranch},
		"excluded":               {func(r *hook.RouteSpec) { r.Branches = []string{"**", "!wip/**"} }, "refs/heads/wip/a", "", nil, hook.IgnoredBranch},
		"included again":         {func(r *hook.RouteSpec) { r.Branches = []string{"**", "!wip/**", "wip/ada"} }, "refs/heads/wip/ada", "", nil, ""},
		"the last decides":       {func(r *hook.RouteSpec) { r.Branches = []string{"**", "wip/ada", "!wip/**"} }, "refs/heads/wip/ada", "", nil, hook.IgnoredBranch},
		"braces":                 {func(r *hook.RouteSpec) { r.Branches = []string{"{main,dev}"} }, "refs/heads/dev", "", nil, ""},
		"a path":                 {func(r *hook.RouteSpec) { r.Paths = []string{"model/**"} }, "refs/heads/main", "", []string{"a", "model/x/y"}, ""},
		"no path":                {func(r *hook.RouteSpec) { r.Paths = []string{"model/**"} }, "refs/heads/main", "", []string{"a", "models/x"}, hook.IgnoredPath},
		"an excluded path":       {func(r *hook.RouteSpec) { r.Paths = []string{"model/**", "!**/*.md"} }, "refs/heads/main", "", []string{"model/x.md"}, hook.IgnoredPath},
		"one path is enough":     {func(r *hook.RouteSpec) { r.Paths = []string{"model/**", "!**/*.md"} }, "refs/heads/main", "", []string{"model/x.md", "model/x.py"}, ""},
		"no files at all":        {func(r *hook.RouteSpec) { r.Paths = []string{"**"} }, "refs/heads/main", "", []string{}, hook.IgnoredPath},
		"the sender":             {func(r *hook.RouteSpec) { r.IgnoreSenders = []string{"bob", "ada"} }, "refs/heads/main", "", nil, hook.IgnoredSender},
		"another sender":         {func(r *hook.RouteSpec) { r.IgnoreSenders = []string{"bob", "Ada"} }, "refs/heads/main", "", nil, ""},
		"skip ci":                {nil, "refs/heads/main", "fix\n\n[skip ci]", nil, hook.IgnoredSkipCI},
		"ci skip":                {nil, "refs/heads/main", "[ci skip] fix", nil, hook.IgnoredSkipCI},
		"no ci":                  {nil, "refs/heads/main", "fix [No CI]", nil, hook.IgnoredSkipCI},
		"no mark":                {nil, "refs/heads/main", "skip ci [skipci]", nil, ""},
		"the mark is not obeyed": {func(r *hook.RouteSpec) { r.SkipCI = &no }, "refs/heads/main", "[skip ci]", nil, ""},
		"when":                   {func(r *hook.RouteSpec) { r.When = `event.branch == "main" && payload.after == "22"` }, "refs/heads/main", "", nil, ""},
		"when not":               {func(r *hook.RouteSpec) { r.When = `event.branch != "main"` }, "refs/heads/main", "", nil, hook.IgnoredWhen},
		"when fails":             {func(r *hook.RouteSpec) { r.When = `payload.missing == "x"` }, "refs/heads/main", "", nil, hook.IgnoredMapping},
		"when is no truth":       {func(r *hook.RouteSpec) { r.When = `payload.after` }, "refs/heads/main", "", nil, hook.IgnoredMapping},
		"when costs too much": {func(r *hook.RouteSpec) {
			r.When = `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))`
		}, "refs/heads/main", "", nil, hook.IgnoredMapping},
		"set fails":               {func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "payload.missing"} }, "refs/heads/main", "", nil, hook.IgnoredMapping},
		"suspended":               {func(r *hook.RouteSpec) { r.Suspended = true }, "refs/heads/main", "", nil, hook.IgnoredSuspended},
		"suspended, not asked":    {func(r *hook.RouteSpec) { r.Suspended, r.Events = true, []string{"issues"} }, "refs/heads/main", "", nil, hook.IgnoredEvent},
		"by the host's name":      {func(r *hook.RouteSpec) { r.Events = []string{"issues", "push"} }, "refs/heads/main", "", nil, ""},
		"deletion before filters": {func(r *hook.RouteSpec) { r.Branches = []string{"x"} }, "refs/heads/main", "delete", nil, hook.IgnoredDeletion},
	} {
		t.Run(name, func(t *testing.T) {
			d := push(t, tc.ref, tc.message, tc.files...)
			if tc.message == "delete" {
				d = github(strings.Replace(string(d.Body), `"after":"22"`, `"after":"00"`, 1))
			}
			got := decision(t, compile(t, "github", route(tc.change)), d)
			if got.Ignored != tc.want || (got.Call == "submit") != (tc.want == "") {
				t.Errorf("%+v, want %q", got, tc.want)
			}
		})
	}
}

// Filters of pushes do not apply to other events; the others do.
func TestFiltersOfOtherEvents(t *testing.T) {
	h := compile(t, "github",
		route(func(r *hook.RouteSpec) {
			r.Events, r.Branches, r.Tags, r.Paths = []string{"issues"}, []string{"x"}, []string{"x"}, []string{"x"}
		}),
		hook.RouteSpec{Name: "sender", Function: "submit", Events: []string{"other"}, IgnoreSenders: []string{"ada"}},
		hook.RouteSpec{Name: "when", Function: "submit", Events: []string{"other"}, When: `payload.action == "closed"`},
		hook.RouteSpec{Name: "ping", Function: "submit", Events: []string{"ping"}},
	)
	want := []hook.Reason{"", hook.IgnoredSender, hook.IgnoredWhen, hook.IgnoredEvent}
	body := `{"action":"opened","sender":{"login":"ada"},"issue":{"title":"[skip ci]"}}`
	d := github(body)
	d.Header.Set("X-GitHub-Event", "issues")
	for i, d := range accept(t, h, d).Decisions {
		if d.Ignored != want[i] {
			t.Errorf("%s: %+v, want %q", d.Route, d, want[i])
		}
	}
	ping := github(`{"zen":"x"}`)
	ping.Header.Set("X-GitHub-Event", "ping")
	for i, d := range accept(t, h, ping).Decisions {
		if called := d.Call != ""; called != (i == 3) {
			t.Errorf("%s: %+v", d.Route, d)
		}
	}
}
