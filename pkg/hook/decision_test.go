package hook_test

import (
	"encoding/json"
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/run"
)

func TestOrigin(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Supersede = true }))
	body := `{"ref":"refs/heads/main","before":"11","after":"22","forced":true,"sender":{"login":"ada"},
		"repository":{"full_name":"acme/pump-models","clone_url":"https://github.com/acme/pump-models.git"},
		"head_commit":{"id":"22","message":"m","timestamp":"2026-01-01T00:00:00Z"}}`
	d := decision(t, h, github(body, "X-GitHub-Delivery: 5f"))
	want := &function.Origin{
		Route: "acme/train", Provider: "github", Delivery: "5f", Host: "github.com", Repo: "acme/pump-models",
		CloneURL: "https://github.com/acme/pump-models.git", Ref: "refs/heads/main", SHA: "22", Before: "11", Sender: "ada",
		Forced: true, Committed: "2026-01-01T00:00:00Z", Supersedes: true,
		Name:     run.PushName("acme/pump-models", "22", d.Key),
		RefLabel: run.RefLabel("acme/train", "github.com", "acme/pump-models", "refs/heads/main"),
	}
	if diff := cmp.Diff(want, d.Origin); diff != "" {
		t.Error(diff)
	}
	if !regexp.MustCompile(`^acme-pump-models-22-[0-9a-f]{10}$`).MatchString(d.Origin.Name) {
		t.Errorf("name %s", d.Origin.Name)
	}
	// Only a run has a name and a label.
	d = decision(t, compile(t, "github", route(func(r *hook.RouteSpec) { r.Function = "cancel" })), github(body))
	if d.Origin.Name != "" || d.Origin.RefLabel != "" || d.Origin.SHA != "22" {
		t.Errorf("origin %+v", d.Origin)
	}
}

// One key for each (route, host, repo, ref, sha), whatever the delivery's id.
func TestPushKeys(t *testing.T) {
	h := compile(t, "github", route(nil), hook.RouteSpec{Name: "again", Function: "submit"})
	keys := func(host, repo, ref, sha, delivery string) []string {
		body, err := json.Marshal(map[string]any{
			"ref": ref, "after": sha,
			"repository": map[string]any{"full_name": repo, "clone_url": "https://" + host + "/x.git"},
		})
		if err != nil {
			t.Fatal(err)
		}
		out := accept(t, h, github(string(body), "X-GitHub-Delivery: "+delivery))
		return []string{out.Decisions[0].Key, out.Decisions[1].Key}
	}
	first := keys("a.example", "acme/pump", "refs/heads/main", "22", "one")
	if diff := cmp.Diff(first, keys("a.example", "acme/pump", "refs/heads/main", "22", "two")); diff != "" {
		t.Error("another delivery id makes another key")
	}
	seen := map[string]bool{}
	for _, keys := range [][]string{
		first,
		keys("b.example", "acme/pump", "refs/heads/main", "22", "one"),
		keys("a.example", "acme/pumps", "refs/heads/main", "22", "one"),
		keys("a.example", "acme/pump", "refs/heads/dev", "22", "one"),
		keys("a.example", "acme/pump", "refs/heads/main", "23", "one"),
		keys("a.example", "acme/pump", "refs/heads/main", "", "one"),
		keys("a.example", "acme/pump", "refs/heads/main", "", "two"),
	} {
		for _, key := range keys {
			if seen[key] {
				t.Errorf("key %s twice", key)
			}
			seen[key] = true
		}
	}
}

// Twenty copies of one delivery at once are twenty times the same decision.
func TestCopiesAtOnce(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) {
		r.When, r.Set = `event.branch == "main"`, map[string]string{"params.message": "event.message", "id": "payload.after"}
	}))
	d := github(string(read(t, "push_github.json")), "X-GitHub-Delivery: 5f")
	want := decision(t, h, d)
	got := make([]hook.Outcome, 20)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i], _ = h.Accept(d, noon) })
	}
	group.Wait()
	for _, out := range got {
		if len(out.Decisions) != 1 || out.Decisions[0].Key != want.Key || string(out.Decisions[0].Request) != string(want.Request) || out.Decisions[0].Origin.Name != want.Origin.Name {
			t.Fatalf("%+v", out.Decisions)
		}
	}
}

// What a Sensor hands over goes the same way, without a proof of its own.
func TestHanded(t *testing.T) {
	h := compile(t, "github", route(nil))
	body := read(t, "push_github.json")
	handed, err := h.Handed("push", "5f", body)
	if err != nil {
		t.Fatal(err)
	}
	sent := accept(t, h, github(string(body), "X-GitHub-Delivery: 5f"))
	if diff := cmp.Diff(sent.Events, handed.Events); diff != "" {
		t.Error(diff)
	}
	if sent.Decisions[0].Key != handed.Decisions[0].Key {
		t.Error("a push has another key when it is handed over")
	}
	for _, body := range []string{``, `[]`, `null`, `{}`} {
		if _, err := h.Handed("push", "", json.RawMessage(body)); err == nil {
			t.Errorf("%q is accepted", body)
		}
	}
	ping, err := compile(t, "bitbucket-server", route(nil)).Handed("diagnostics:ping", "", json.RawMessage(`{"test":true}`))
	if err != nil || ping.Decisions[0].Ignored != hook.IgnoredPing {
		t.Errorf("%+v %v", ping, err)
	}
}
