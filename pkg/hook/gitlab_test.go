package hook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

func gitlab(body string, lines ...string) hook.Delivery {
	lines = append([]string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + lamp}, lines...)
	return hook.Delivery{Header: headers(lines...), Body: []byte(body)}
}

func TestGitLabToken(t *testing.T) {
	body := `{"object_kind":"push","ref":"refs/heads/main","after":"22"}`
	for name, tc := range map[string]struct {
		header map[string][]string
		want   fault.Kind
	}{
		"right":            {map[string][]string{"X-Gitlab-Token": {lamp}}, ""},
		"none":             {nil, fault.Unproven},
		"empty":            {map[string][]string{"X-Gitlab-Token": {""}}, fault.Unproven},
		"wrong":            {map[string][]string{"X-Gitlab-Token": {"harbour-lamp-43"}}, fault.Unproven},
		"shorter":          {map[string][]string{"X-Gitlab-Token": {"harbour"}}, fault.Unproven},
		"longer":           {map[string][]string{"X-Gitlab-Token": {lamp + "x"}}, fault.Unproven},
		"twice":            {map[string][]string{"X-Gitlab-Token": {lamp, lamp}}, fault.Unproven},
		"in another place": {map[string][]string{"Authorization": {"Bearer " + lamp}}, fault.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			d := hook.Delivery{Header: headers("X-Gitlab-Event: Push Hook"), Body: []byte(body)}
			for name, values := range tc.header {
				d.Header[name] = values
			}
			_, err := compile(t, "gitlab", route(nil)).Accept(d, noon)
			wantKind(t, err, tc.want)
		})
	}
}

func TestGitLabPush(t *testing.T) {
	body := `{"object_kind":"push","event_name":"push","ref":"refs/heads/feature/a","before":"11","after":"22","checkout_sha":"22",
		"user_username":"ada","total_commits_count":2,
		"project":{"path_with_namespace":"acme/models/pump","git_http_url":"https://Git.Acme.Example:8443/acme/models/pump.git"},
		"commits":[{"id":"21","message":"first","timestamp":"2026-01-01T00:00:00Z","added":["a"],"modified":[],"removed":[]},
		{"id":"22","message":"second","timestamp":"2026-01-01T00:00:01Z","added":["a"],"modified":["b"],"removed":["c"]}]}`
	for delivery, lines := range map[string][]string{
		"key":  {"Idempotency-Key: key", "X-Gitlab-Event-UUID: uuid"},
		"uuid": {"X-Gitlab-Event-UUID: uuid"},
	} {
		out := accept(t, compile(t, "gitlab", route(nil)), gitlab(body, lines...))
		want := []hook.Event{{
			Provider: "gitlab", Type: hook.Push, Name: "Push Hook", Delivery: delivery,
			Repo: hook.Repo{FullName: "acme/models/pump", CloneURL: "https://Git.Acme.Example:8443/acme/models/pump.git", Host: "git.acme.example:8443"},
			Ref:  "refs/heads/feature/a", Branch: "feature/a", Before: "11", SHA: "22", Sender: "ada",
			Message: "second", Committed: "2026-01-01T00:00:01Z", Paths: []string{"a", "b", "c"}, PathsComplete: true,
			Labels: map[string]string{}, Annotations: map[string]string{}, Group: map[string]string{},
		}}
		if diff := cmp.Diff(want, out.Events); diff != "" {
			t.Error(diff)
		}
	}
}

func TestGitLabEvents(t *testing.T) {
	zero := strings.Repeat("0", 40)
	routes := func(r *hook.RouteSpec) { r.Events, r.Branches = []string{"push"}, []string{"*"} }
	for name, tc := range map[string]struct {
		header, body string
		want         hook.Reason
	}{
		"deletion":         {"Push Hook", `{"object_kind":"push","ref":"refs/heads/old","after":"` + zero + `","checkout_sha":null,"commits":[]}`, hook.IgnoredDeletion},
		"zeros count":      {"Push Hook", `{"object_kind":"push","ref":"refs/heads/old","after":"` + zero + `","checkout_sha":"22"}`, hook.IgnoredDeletion},
		"deletion of tag":  {"Tag Push Hook", `{"object_kind":"tag_push","ref":"refs/tags/v1","before":"11","after":"` + zero + `","checkout_sha":null}`, hook.IgnoredDeletion},
		"tag":              {"Tag Push Hook", `{"object_kind":"tag_push","ref":"refs/tags/v1","after":"22","checkout_sha":"23"}`, hook.IgnoredTag},
		"merge request":    {"Merge Request Hook", `{"object_kind":"merge_request","user":{"username":"ada"}}`, hook.IgnoredEvent},
		"body before head": {"Push Hook", `{"object_kind":"note","ref":"refs/heads/main","after":"22"}`, hook.IgnoredEvent},
		"system hook":      {"System Hook", `{"event_name":"push","ref":"refs/heads/main","after":"22"}`, ""},
		"without kind":     {"Push Hook", `{"ref":"refs/heads/main","after":"22"}`, ""},
		"branch with /":    {"Push Hook", `{"object_kind":"push","ref":"refs/heads/a/b","after":"22"}`, hook.IgnoredBranch},
	} {
		t.Run(name, func(t *testing.T) {
			d := gitlab(tc.body)
			d.Header.Set("X-Gitlab-Event", tc.header)
			if got := decision(t, compile(t, "gitlab", route(routes)), d); got.Ignored != tc.want {
				t.Errorf("decision %+v, want %q", got, tc.want)
			}
		})
	}
}

// checkout_sha is the commit; `after` of an annotated tag is the tag.
func TestGitLabTag(t *testing.T) {
	body := `{"object_kind":"tag_push","ref":"refs/tags/v1","before":"00","after":"aa","checkout_sha":"bb"}`
	for _, change := range []func(*hook.RouteSpec){
		func(r *hook.RouteSpec) { r.Events = []string{"Tag Push Hook"} },
		func(r *hook.RouteSpec) { r.Events = []string{"tag"} },
		func(r *hook.RouteSpec) { r.Tags = []string{"v*"} },
	} {
		d := gitlab(body)
		d.Header.Set("X-Gitlab-Event", "Tag Push Hook")
		got := decision(t, compile(t, "gitlab", route(change)), d)
		if got.Call != "submit" || got.Origin.SHA != "bb" {
			t.Errorf("decision %+v", got)
		}
	}
}

// GitLab lists 20 commits of a push at most.
func TestGitLabPathsComplete(t *testing.T) {
	commits := `"commits":[{"id":"22","added":["a"],"modified":[],"removed":[]}]`
	for rest, want := range map[string]bool{
		`"total_commits_count":1,` + commits:                true,
		`"total_commits_count":21,` + commits:               false,
		commits:                                             false,
		`"before":"000","total_commits_count":1,` + commits: false,
	} {
		out := accept(t, compile(t, "gitlab", route(nil)), gitlab(`{"object_kind":"push","ref":"refs/heads/main","after":"22",`+rest+`}`))
		if out.Events[0].PathsComplete != want {
			t.Errorf("%s: pathsComplete %v", rest, !want)
		}
	}
}
