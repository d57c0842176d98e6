package hook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/secret"
)

// all compiles one hook of every provider with routes that look at everything.
func all(f *testing.F) map[string]*hook.Hook {
	f.Helper()
	hooks := map[string]*hook.Hook{}
	for provider := range hook.Providers {
		spec := hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{
			{
				Name: "all", Function: "submit", Events: []string{"push", "tag", "alert", "other"},
				Branches: []string{"**", "!wip/**"}, Tags: []string{"*"}, Paths: []string{"**", "!*.md"},
				When: `event.ref != payload.x`, Set: map[string]string{"a[0].b": "payload", "event": "event", "n": "payload.n"},
			},
			{Name: "plain", Function: "submit"},
		}}
		key := lamp
		switch provider {
		case "hmac":
			spec.Header = "X-Sum"
		case "standard-webhooks", "gitlab-signed":
			key = whsec(lamp)
		}
		h, problems := hook.Compile(spec, []secret.Value{secret.Of(key)}, hook.Options{Functions: functions})
		if problems != nil {
			f.Fatal(problems)
		}
		hooks[provider] = h
	}
	return hooks
}

// decent fails for an outcome or error that no delivery may lead to.
func decent(t *testing.T, h *hook.Hook, out hook.Outcome, err error) {
	t.Helper()
	if err != nil {
		if kind := fault.KindOf(err); kind != fault.Malformed && kind != fault.Unproven && kind != fault.MediaType {
			t.Errorf("kind %s: %v", kind, err)
		}
		if strings.Contains(err.Error(), lamp) {
			t.Errorf("the error tells the secret: %v", err)
		}
		return
	}
	for _, d := range out.Decisions {
		if (d.Ignored == "") != (d.Call != "") || d.Event >= len(out.Events) {
			t.Errorf("decision %+v", d)
		}
		if d.Ignored != "" && !slices.Contains(hook.Reasons, d.Ignored) {
			t.Errorf("reason %q", d.Ignored)
		}
		if d.Call != "" && (!json.Valid(d.Request) || d.Key == "" || d.Origin == nil) {
			t.Errorf("decision %+v", d)
		}
	}
	answer := h.Act(t.Context(), out, &invoker{answers: []any{map[string]any{"run": "a"}}})
	data, err := json.Marshal(answer)
	if err != nil || answer.Events == nil || answer.Decisions == nil || answer.Status > 202 {
		t.Errorf("answer %d %s: %v", answer.Status, data, err)
	}
}

// FuzzPayload decodes any bytes as a payload of every provider.
func FuzzPayload(f *testing.F) {
	hooks := all(f)
	names := []string{"push", "Push Hook", "Tag Push Hook", "repo:push", "repo:refs_changed", "diagnostics:ping", "ping", ""}
	for _, name := range []string{"push_github.json", "case03_gitea.json", "case03_bitbucket.json"} {
		f.Add(read(f, name))
	}
	for _, body := range savedBodies(f) {
		f.Add(body)
	}
	for _, seed := range []string{
		twoAlerts, `{}`, `[]`, `null`, ``, `{"ref":"refs/heads/a","after":"\ud800","x":1e999,"n":1e999}`, `{"push":{"changes":[{}]},"changes":[null]}`,
		`{"object_kind":"tag_push","ref":"refs/tags/","after":"0"}`, `{"ref":"refs/heads/","ref":"x"}`, strings.Repeat(`{"a":[`, 40),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range hooks {
			for _, name := range names {
				out, err := h.Handed(name, "id", body)
				decent(t, h, out, err)
			}
		}
	})
}

// FuzzProof gives any headers to every verifier: without the secret nothing is
// proven.
func FuzzProof(f *testing.F) {
	hooks := all(f)
	digest := strings.Repeat("a", 64)
	for _, seed := range []string{
		"", "x", "sha256", "sha256=", "sha256=" + digest, "sha1=" + digest, digest, digest + "0", "Bearer ", "bearer x", "Basic x",
		"v1,", "v1,AAAA v1,", "v1," + strings.Repeat("A", 43) + "=", strings.Repeat("v1,A ", 100), " ", "\x00", "sha256=é",
	} {
		f.Add(seed, seed, `{"ref":"refs/heads/main"}`, "application/json")
		f.Add(seed, "1772366400", `payload=%7B%7D`, "application/x-www-form-urlencoded")
	}
	f.Fuzz(func(t *testing.T, proof, stamp, body, media string) {
		for provider, h := range hooks {
			header := http.Header{"Content-Type": {media}, "X-Event-Key": {"repo:push"}, "Webhook-Id": {"id"}, "Webhook-Timestamp": {stamp}}
			for _, name := range []string{
				"X-Hub-Signature-256", "X-Hub-Signature", "X-Gitlab-Token", "X-Gitea-Signature", "X-Forgejo-Signature",
				"X-Sum", "Authorization", "Webhook-Signature",
			} {
				header.Set(name, proof)
			}
			_, err := h.Accept(hook.Delivery{Header: header, Body: []byte(body)}, noon)
			if kind := fault.KindOf(err); kind != fault.Unproven && kind != fault.MediaType && !strings.Contains(proof, lamp) {
				t.Errorf("%s: %v", provider, err)
			}
		}
	})
}

// FuzzForm gives any signed body as a form.
func FuzzForm(f *testing.F) {
	h := all(f)["github"]
	for _, seed := range []string{"payload=%7B%7D", "payload={}", "payload=", "payload=1&payload=2", "a=b", "%zz", "payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%7D", ";", "&&="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		out, err := h.Accept(github(body, "Content-Type: application/x-www-form-urlencoded"), noon)
		decent(t, h, out, err)
	})
}

// FuzzSet compiles any path of `set`, and makes a request with it when it is one.
func FuzzSet(f *testing.F) {
	for _, seed := range []string{"a", "a.b[0].c", "a[0][0]", "a[1]", "a..b", "", ".", "a.", "[0]", "a[-1]", "a[9999]", "a[00]", "é", "a b", "a-b_c", "t.x", "t[0]", strings.Repeat("a.", 70) + "a"} {
		f.Add(seed, "event.sha")
	}
	f.Add("a", "payload.x + 1")
	f.Add("a", "(((((")
	f.Add("a", "event")
	f.Fuzz(func(t *testing.T, path, expression string) {
		spec := hook.Spec{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{route(func(r *hook.RouteSpec) {
			r.Request = map[string]any{"t": []any{}, "s": "x"}
			r.Set = map[string]string{path: expression}
		})}}
		h, problems := hook.Compile(spec, values([]string{lamp}), hook.Options{Functions: functions})
		if (h == nil) == (problems == nil) {
			t.Fatal("neither a hook nor a problem, or both")
		}
		if h == nil {
			return
		}
		out, err := h.Accept(github(`{"ref":"refs/heads/main","after":"22","x":1}`), noon)
		if err != nil {
			t.Fatal(err)
		}
		decent(t, h, out, nil)
	})
}

// FuzzReplay reads any bytes as a saved request.
func FuzzReplay(f *testing.F) {
	r := replayer(f)
	for _, request := range savedRequests(f) {
		f.Add(request)
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		report := r.Replay(bytes.NewReader(request), noon)
		data, err := json.Marshal(report)
		if err != nil || report.Events == nil || report.Decisions == nil {
			t.Errorf("%s: %v", data, err)
		}
		if (report.Status >= 400) != (report.Error != "") || report.Status == 500 {
			t.Errorf("status %d, error %q", report.Status, report.Error)
		}
		if strings.Contains(report.Error, lamp) {
			t.Errorf("the error tells the secret: %s", report.Error)
		}
	})
}

func savedRequests(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob("testdata/requests/*.http")
	if err != nil || len(files) == 0 {
		f.Fatal("no saved requests", err)
	}
	var requests [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		requests = append(requests, data)
	}
	return requests
}

func savedBodies(f *testing.F) [][]byte {
	f.Helper()
	var bodies [][]byte
	for _, request := range savedRequests(f) {
		if _, body, ok := bytes.Cut(request, []byte("\r\n\r\n")); ok {
			bodies = append(bodies, body)
		}
	}
	return bodies
}
