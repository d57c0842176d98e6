//go:build cluster

package clustertest

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/limits"
)

// problem is problem+json.
type problem struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Errors []struct {
		Path   string `json:"path"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

func TestUnprovenDeliveriesCreateNothing(t *testing.T) {
	s := newSite(t)
	p := hooktest.NewGitHubPush("hello")
	body := p.Body()
	right := s.signature(body)
	legacy := hmac.New(sha1.New, []byte(s.secret("github-secret")))
	legacy.Write(body)
	sha1Header := "sha1=" + hex.EncodeToString(legacy.Sum(nil))

	for name, headers := range map[string]http.Header{
		"wrong":                    {"X-Hub-Signature-256": {"sha256=" + strings.Repeat("0", 64)}},
		"missing":                  {},
		"sha1 only":                {"X-Hub-Signature": {sha1Header}},
		"right sha1, wrong sha256": {"X-Hub-Signature": {sha1Header}, "X-Hub-Signature-256": {"sha256=" + strings.Repeat("a", 64)}},
		"truncated":                {"X-Hub-Signature-256": {right[:len(right)-1]}},
		"without its digest":       {"X-Hub-Signature-256": {"sha256="}},
		"one letter":               {"X-Hub-Signature-256": {"x"}},
		"doubled, second right":    {"X-Hub-Signature-256": {"sha256=" + strings.Repeat("0", 64), right}},
		"doubled, both right":      {"X-Hub-Signature-256": {right, right}},
		"of another body":          {"X-Hub-Signature-256": {s.signature(append(body, ' '))}},
	} {
		request := s.delivery(body)
		request.Header.Del("X-Hub-Signature-256")
		for key, values := range headers {
			request.Header[http.CanonicalHeaderKey(key)] = values
		}
		got := s.do(request)
		if got.code != http.StatusUnauthorized {
			t.Errorf("%s: answered %d: %s", name, got.code, got.body)
		}
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/problem+json") {
			t.Errorf("%s: content type %s", name, kind)
		}
		for _, secret := range []string{right[len("sha256="):], s.secret("github-secret")} {
			if bytes.Contains(got.body, []byte(secret)) {
				t.Errorf("%s: the answer shows what it should have been", name)
			}
		}
	}
	if n := s.runsOf(p.SHA); n != 0 {
		t.Errorf("%d Workflows were created", n)
	}
}

func TestBodiesThatAreNotRead(t *testing.T) {
	s := newSite(t)
	tooLong := bytes.Repeat([]byte(" "), limits.HookBody+1)
	form := []byte("payload=" + url.QueryEscape(`{"ref":"refs/heads/main"}`) + strings.Repeat("&x=", (limits.HookBody)/3))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(hooktest.NewGitHubPush("zip").Body())
	z.Close()

	for name, tc := range map[string]struct {
		path, contentType, encoding string
		body                        io.Reader
		want                        int
	}{
		"limit + 1 as JSON": {"/hooks/acme", "application/json", "", bytes.NewReader(tooLong), 413},
		"limit + 1 as form": {"/hooks/acme", "application/x-www-form-urlencoded", "", bytes.NewReader(form), 413},
		// A reader that is nothing but a reader has no length: it goes in chunks.
		"limit + 1 in chunks": {"/hooks/acme", "application/json", "", io.MultiReader(bytes.NewReader(tooLong)), 413},
		"gzip":                {"/hooks/acme", "application/json", "gzip", &zipped, 415},
		"XML":                 {"/hooks/acme", "application/xml", "", strings.NewReader("<push/>"), 415},
		"unknown hook":        {"/hooks/nobody", "application/json", "", strings.NewReader("{}"), 404},
		"unknown path":        {"/elsewhere", "application/json", "", strings.NewReader("{}"), 404},
	} {
		request, err := http.NewRequest(http.MethodPost, s.url+tc.path, tc.body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", tc.contentType)
		request.Header.Set("X-GitHub-Event", "push")
		request.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
		if tc.encoding != "" {
			request.Header.Set("Content-Encoding", tc.encoding)
		}
		got := s.do(request)
		if got.code != tc.want {
			t.Errorf("%s: answered %d, want %d: %s", name, got.code, tc.want, got.body)
		}
	}
}

func TestBodyOfExactlyTheLimitIsTaken(t *testing.T) {
	s := newSite(t)
	p := hooktest.NewGitHubPush("padded")
	p.Branch = "not-a-branch-of-the-route"
	body := p.Body()
	body = append(body, bytes.Repeat([]byte(" "), limits.HookBody-len(body))...)
	got := s.do(s.delivery(body))
	if d := s.decisionOf(got); got.code != http.StatusOK || d.Ignored != "branch" {
		t.Errorf("got %d %s", got.code, got.body)
	}
}

func TestFunctionRefusals(t *testing.T) {
	s := newSite(t)
	run := map[string]any{"id": unique(t), "tasks": []any{task("a", "true")}}
	with := func(change func(map[string]any)) map[string]any {
		copied := map[string]any{}
		encoded, _ := json.Marshal(run)
		_ = json.Unmarshal(encoded, &copied)
		change(copied)
		return copied
	}
	for name, tc := range map[string]struct {
		token, function string
		body            any
		want            int
		path            string
	}{
		"a token that may only read":   {"reader-token", "submit", run, 403, ""},
		"a function that is not there": {"demo-token", "nothing", run, 404, ""},
		"an unknown run":               {"demo-token", "status", map[string]any{"run": "no-such-run"}, 404, ""},
		"not the queue of the caller":  {"demo-token", "submit", with(func(r map[string]any) { r["queue"] = "other" }), 403, ""},
		"unknown key":                  {"demo-token", "submit", with(func(r map[string]any) { r["tasks"].([]any)[0].(map[string]any)["imgae"] = "x" }), 422, "tasks[0].imgae"},
		"no image":                     {"demo-token", "submit", with(func(r map[string]any) { delete(r["tasks"].([]any)[0].(map[string]any), "image") }), 422, "tasks[0].image"},
		"memory in bytes": {"demo-token", "submit", with(func(r map[string]any) {
			r["tasks"].([]any)[0].(map[string]any)["resources"] = map[string]any{"memory": 8}
		}), 422, "tasks[0].resources.memory"},
		"not JSON": {"demo-token", "submit", json.RawMessage("[1,2"), 400, ""},
	} {
		var got answer
		if raw, ok := tc.body.(json.RawMessage); ok {
			request, _ := http.NewRequest(http.MethodPost, s.url+"/functions/"+tc.function, bytes.NewReader(raw))
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Bearer "+s.secret(tc.token))
			got = s.do(request)
		} else {
			got = s.call(tc.token, tc.function, tc.body)
		}
		var p problem
		got.decode(t, &p)
		if got.code != tc.want || p.Detail == "" {
			t.Errorf("%s: answered %d, want %d: %s", name, got.code, tc.want, got.body)
		}
		if tc.path != "" && (len(p.Errors) == 0 || p.Errors[0].Path != tc.path) {
			t.Errorf("%s: want path %s: %s", name, tc.path, got.body)
		}
	}
	request, _ := http.NewRequest(http.MethodPost, s.url+"/functions/submit", strings.NewReader("{}"))
	if got := s.do(request); got.code != http.StatusUnauthorized {
		t.Errorf("no token: answered %d", got.code)
	}
}

func TestUnknownConfigKeyRefusesTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("namespace: runs\ncluster:\n  qeue: research\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(root, "bin/runhook"), "serve", "-c", file).CombinedOutput()
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{file + ":3", "cluster.qeue"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the message lacks %s: %s", want, out)
		}
	}
}
