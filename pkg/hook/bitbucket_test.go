package hook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

const bitbucketDigest = "9a550a215675e22d32f330446c423c4f61def0f717099e50294e9de5affe4cf5"

func bitbucket(event, body string) hook.Delivery {
	return hook.Delivery{
		Header: headers("X-Event-Key: "+event, "X-Request-UUID: u1", "X-Request-Id: i1", "X-Hub-Signature: sha256="+sign(lamp, []byte(body))),
		Body:   []byte(body),
	}
}

func TestBitbucketSignature(t *testing.T) {
	body := read(t, "case03_bitbucket.json")
	for name, tc := range map[string]struct {
		headers []string
		want    fault.Kind
	}{
		"right":           {[]string{"X-Hub-Signature: sha256=" + bitbucketDigest}, ""},
		"missing":         {nil, fault.Unproven},
		"wrong":           {[]string{"X-Hub-Signature: sha256=" + strings.Repeat("0", 64)}, fault.Unproven},
		"sha1":            {[]string{"X-Hub-Signature: sha1=" + strings.Repeat("0", 40)}, fault.Unproven},
		"bare":            {[]string{"X-Hub-Signature: " + bitbucketDigest}, fault.Unproven},
		"GitHub's header": {[]string{"X-Hub-Signature-256: sha256=" + bitbucketDigest}, fault.Unproven},
		"twice":           {[]string{"X-Hub-Signature: sha256=" + bitbucketDigest, "X-Hub-Signature: sha256=" + bitbucketDigest}, fault.Unproven},
	} {
		for _, provider := range []string{"bitbucket", "bitbucket-server"} {
			t.Run(provider+" "+name, func(t *testing.T) {
				d := hook.Delivery{Header: headers(append(tc.headers, "X-Event-Key: repo:push")...), Body: body}
				out, err := compile(t, provider, route(nil)).Accept(d, noon)
				wantKind(t, err, tc.want, bitbucketDigest)
				if err != nil || provider == "bitbucket-server" {
					return
				}
				e := out.Events[0]
				if e.Branch != "main" || e.SHA != strings.Repeat("3", 40) || !e.Created || e.Repo.FullName != "acme/pump-models" {
					t.Errorf("event %+v", e)
				}
			})
		}
	}
}

// One delivery holds several changes.
func TestBitbucketChanges(t *testing.T) {
	body := `{"actor":{"nickname":"ada"},"repository":{"full_name":"acme/pump","links":{"html":{"href":"https://bitbucket.org/acme/pump"}}},"push":{"changes":[
		{"new":{"type":"branch","name":"main","target":{"hash":"22","message":"tune","date":"2026-01-01T00:00:00+00:00"}},"old":{"type":"branch","name":"main","target":{"hash":"11"}},"forced":true},
		{"new":null,"old":{"type":"branch","name":"old"},"closed":true},
		{"new":null,"old":{"type":"branch","name":"older"}},
		{"new":{"type":"tag","name":"v1","target":{"hash":"33"}},"old":null,"created":true}]}}`
	out := accept(t, compile(t, "bitbucket", route(func(r *hook.RouteSpec) { r.Paths = []string{"x"} })), bitbucket("repo:push", body))
	repo := hook.Repo{FullName: "acme/pump", CloneURL: "https://bitbucket.org/acme/pump.git", Host: "bitbucket.org"}
	none := map[string]string{}
	event := func(e hook.Event) hook.Event {
		e.Provider, e.Name, e.Delivery, e.Repo, e.Sender = "bitbucket", "repo:push", "u1", repo, "ada"
		e.Paths, e.Labels, e.Annotations, e.Group = []string{}, none, none, none
		return e
	}
	want := []hook.Event{
		event(hook.Event{Type: hook.Push, Ref: "refs/heads/main", Branch: "main", Before: "11", SHA: "22", Forced: true, Message: "tune", Committed: "2026-01-01T00:00:00+00:00"}),
		event(hook.Event{Type: hook.Push, Ref: "refs/heads/old", Branch: "old", Deleted: true}),
		event(hook.Event{Type: hook.Push, Ref: "refs/heads/older", Branch: "older", Deleted: true}),
		event(hook.Event{Type: hook.Tag, Ref: "refs/tags/v1", Tag: "v1", SHA: "33", Created: true}),
	}
	if diff := cmp.Diff(want, out.Events); diff != "" {
		t.Error(diff)
	}
	got := []hook.Reason{}
	for i, d := range out.Decisions {
		if d.Event != i {
			t.Errorf("decision %d is of event %d", i, d.Event)
		}
		got = append(got, d.Ignored)
	}
	if diff := cmp.Diff([]hook.Reason{"", hook.IgnoredDeletion, hook.IgnoredDeletion, hook.IgnoredTag}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBitbucketMalformed(t *testing.T) {
	for provider, event := range map[string]string{"bitbucket": "repo:push", "bitbucket-server": "repo:refs_changed"} {
		h := compile(t, provider, route(nil))
		for _, changes := range []string{`null`, `{}`, `"x"`, `[null]`, `[{}]`, `[1]`, `[{"new":null,"old":null}]`, `[{"new":{"name":5}}]`, `[{"ref":{"id":7}}]`} {
			_, err := h.Accept(bitbucket(event, `{"changes":`+changes+`,"push":{"changes":`+changes+`}}`), noon)
			wantKind(t, err, fault.Malformed)
		}
		if out := accept(t, h, bitbucket(event, `{"changes":[],"push":{"changes":[]}}`)); len(out.Events) != 0 || out.Decisions == nil {
			t.Errorf("outcome %+v", out)
		}
		if d := decision(t, h, bitbucket("repo:forked", `{}`)); d.Ignored != hook.IgnoredEvent {
			t.Errorf("decision %+v", d)
		}
	}
}

func TestBitbucketServerChange(t *testing.T) {
	body := `{"actor":{"name":"ada"},"repository":{"slug":"pump","project":{"key":"ACME"},
		"links":{"clone":[{"href":"ssh://git@code.acme.example/acme/pump.git","name":"ssh"},{"href":"https://code.acme.example/scm/acme/pump.git","name":"http"}]}},
		"changes":[{"ref":{"id":"refs/heads/main","displayId":"main","type":"BRANCH"},"refId":"refs/heads/main","fromHash":"11","toHash":"22","type":"UPDATE"},
		{"refId":"refs/heads/old","fromHash":"11","toHash":"0000","type":"DELETE"},
		{"refId":"refs/heads/new","fromHash":"0000","toHash":"33","type":"ADD"}],
		"toCommit":{"id":"22","message":"tune","committerTimestamp":1767225600000},"commits":[{"id":"33","message":"new"}]}`
	out := accept(t, compile(t, "bitbucket-server", route(nil)), bitbucket("repo:refs_changed", body))
	repo := hook.Repo{FullName: "ACME/pump", CloneURL: "https://code.acme.example/scm/acme/pump.git", Host: "code.acme.example"}
	if e := out.Events[0]; e.Repo != repo || e.Sender != "ada" || e.Delivery != "i1" || e.Message != "tune" || e.Committed != "2026-01-01T00:00:00Z" || e.Before != "11" || e.SHA != "22" {
		t.Errorf("event %+v", e)
	}
	if e := out.Events[1]; !e.Deleted || e.SHA != "" || out.Decisions[1].Ignored != hook.IgnoredDeletion {
		t.Errorf("event %+v", e)
	}
	if e := out.Events[2]; !e.Created || e.Before != "" || e.Message != "new" || e.PathsComplete {
		t.Errorf("event %+v", e)
	}
}

// The button "Test connection" does not sign; nothing may come of it, whatever
// body wears its header.
func TestBitbucketServerPing(t *testing.T) {
	pings := hook.RouteSpec{Name: "all", Function: "submit", Events: []string{"other", "push", "tag"}}
	for name, body := range map[string]string{
		"its own": `{"test":true}`, "a push": string(read(t, "case03_bitbucket.json")), "no JSON": "hello", "none": "", "list": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			d := hook.Delivery{Header: headers("X-Event-Key: diagnostics:ping"), Body: []byte(body)}
			out := accept(t, compile(t, "bitbucket-server", route(nil), pings), d)
			if out.Proven || len(out.Events) != 1 || out.Events[0].Type != hook.Ping || len(out.Decisions) != 2 {
				t.Errorf("outcome %+v", out)
			}
			for _, d := range out.Decisions {
				if d.Ignored != hook.IgnoredPing || d.Call != "" {
					t.Errorf("decision %+v", d)
				}
			}
		})
	}
	h := compile(t, "bitbucket-server", route(nil))
	for name, d := range map[string]hook.Delivery{
		"two keys":         {Header: headers("X-Event-Key: diagnostics:ping", "X-Event-Key: repo:refs_changed"), Body: []byte(`{}`)},
		"another case":     {Header: headers("X-Event-Key: Diagnostics:Ping"), Body: []byte(`{}`)},
		"a push, unsigned": {Header: headers("X-Event-Key: repo:refs_changed"), Body: []byte(`{"test":true}`)},
	} {
		_, err := h.Accept(d, noon)
		t.Log(name)
		wantKind(t, err, fault.Unproven)
	}
	// Bitbucket Cloud has no such ping.
	_, err := compile(t, "bitbucket", route(nil)).Accept(hook.Delivery{Header: headers("X-Event-Key: diagnostics:ping"), Body: []byte(`{"test":true}`)}, noon)
	wantKind(t, err, fault.Unproven)
}
