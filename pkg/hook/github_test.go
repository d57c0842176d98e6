package hook_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

const (
	pushDigest = "c7ab1bfe47349176ed8690760c98a3b1f5f557629d2c05fc9d30e3e683b4936e"
	pushSHA1   = "309c4d675b44b65b863eefafa647ac7375f43a5d"
)

func TestGitHubSignature(t *testing.T) {
	body := read(t, "push_github.json")
	right := "X-Hub-Signature-256: sha256=" + pushDigest
	wrong := "X-Hub-Signature-256: sha256=" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		headers []string
		want    fault.Kind
	}{
		"right":                    {[]string{right}, ""},
		"upper case":               {[]string{"X-Hub-Signature-256: sha256=" + strings.ToUpper(pushDigest)}, ""},
		"sha1 and wrong sha256":    {[]string{"X-Hub-Signature: sha1=" + pushSHA1, wrong}, fault.Unproven},
		"sha1 alone":               {[]string{"X-Hub-Signature: sha1=" + pushSHA1}, fault.Unproven},
		"none":                     {nil, fault.Unproven},
		"wrong":                    {[]string{wrong}, fault.Unproven},
		"empty":                    {[]string{"X-Hub-Signature-256: "}, fault.Unproven},
		"empty digest":             {[]string{"X-Hub-Signature-256: sha256="}, fault.Unproven},
		"letter":                   {[]string{"X-Hub-Signature-256: x"}, fault.Unproven},
		"prefix without equals":    {[]string{"X-Hub-Signature-256: sha256"}, fault.Unproven},
		"65 digits":                {[]string{right + "0"}, fault.Unproven},
		"66 digits":                {[]string{right + "00"}, fault.Unproven},
		"62 digits":                {[]string{right[:len(right)-2]}, fault.Unproven},
		"another algorithm":        {[]string{"X-Hub-Signature-256: sha512=" + pushDigest}, fault.Unproven},
		"bare":                     {[]string{"X-Hub-Signature-256: " + pushDigest}, fault.Unproven},
		"not hexadecimal":          {[]string{"X-Hub-Signature-256: sha256=" + strings.Repeat("g", 64)}, fault.Unproven},
		"two headers, right last":  {[]string{wrong, right}, fault.Unproven},
		"two headers, right first": {[]string{right, wrong}, fault.Unproven},
		"right twice":              {[]string{right, right}, fault.Unproven},
		"another host's header":    {[]string{"X-Gitea-Signature: " + pushDigest}, fault.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			h := compile(t, "github", route(nil))
			d := hook.Delivery{Header: headers(append(tc.headers, "X-GitHub-Event: push")...), Body: body}
			out, err := h.Accept(d, noon)
			wantKind(t, err, tc.want, pushDigest)
			if err == nil && out.Decisions[0].Call != "submit" {
				t.Errorf("decisions %+v", out.Decisions)
			}
		})
	}
}

func TestGitHubPush(t *testing.T) {
	d := github(string(read(t, "push_github.json")), "X-GitHub-Delivery: 5f1e")
	out := accept(t, compile(t, "github", route(nil)), d)
	want := []hook.Event{{
		Provider: "github", Type: hook.Push, Name: "push", Delivery: "5f1e",
		Repo: hook.Repo{FullName: "acme/pump-models"},
		Ref:  "refs/heads/main", Branch: "main",
		Before: strings.Repeat("1", 40), SHA: strings.Repeat("2", 40),
		Message: "tune 🔧 <b>&</b>", Paths: []string{"models/a.yaml"}, PathsComplete: true,
		Labels: map[string]string{}, Annotations: map[string]string{}, Group: map[string]string{},
	}}
	if diff := cmp.Diff(want, out.Events); diff != "" {
		t.Error(diff)
	}
	if !out.Proven {
		t.Error("a signed delivery counts as unproven")
	}
}

// The body is signed as it is sent, as a form too.
func TestGitHubForm(t *testing.T) {
	body := url.Values{"payload": {string(read(t, "push_github.json"))}}.Encode()
	h := compile(t, "github", route(nil))
	form := "Content-Type: application/x-www-form-urlencoded"
	if d := decision(t, h, github(body, form)); d.Call != "submit" || d.Origin.SHA != strings.Repeat("2", 40) {
		t.Errorf("decision %+v", d)
	}
	ofValue := hook.Delivery{Header: headers(form, "X-GitHub-Event: push", "X-Hub-Signature-256: sha256="+pushDigest), Body: []byte(body)}
	_, err := h.Accept(ofValue, noon)
	wantKind(t, err, fault.Unproven)
	for _, malformed := range []string{"", "payload=1&payload=2", "other={}", "payload=%zz"} {
		_, err := h.Accept(github(malformed, form), noon)
		wantKind(t, err, fault.Malformed)
	}
}

func TestGitHubEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		event, body string
		want        hook.Reason
	}{
		"ping":         {"ping", `{"zen":"Keep it simple."}`, hook.IgnoredPing},
		"issues":       {"issues", `{"action":"opened"}`, hook.IgnoredEvent},
		"no header":    {"", `{}`, hook.IgnoredEvent},
		"unknown name": {"vibes", `{}`, hook.IgnoredEvent},
		"deletion":     {"push", `{"ref":"refs/heads/old","after":"0000000000000000000000000000000000000000","deleted":true}`, hook.IgnoredDeletion},
		"only zeros":   {"push", `{"ref":"refs/heads/old","after":"0000000000000000000000000000000000000000"}`, hook.IgnoredDeletion},
		"only deleted": {"push", `{"ref":"refs/heads/old","deleted":true}`, hook.IgnoredDeletion},
		"tag":          {"push", `{"ref":"refs/tags/v1","after":"2222"}`, hook.IgnoredTag},
		"notes":        {"push", `{"ref":"refs/notes/x","after":"2222"}`, hook.IgnoredBranch},
	} {
		t.Run(name, func(t *testing.T) {
			d := github(tc.body)
			d.Header.Set("X-GitHub-Event", tc.event)
			if got := decision(t, compile(t, "github", route(nil)), d); got.Ignored != tc.want || got.Call != "" {
				t.Errorf("decision %+v, want %s", got, tc.want)
			}
		})
	}
}

func TestGitHubPathsComplete(t *testing.T) {
	commit := `{"id":"22","added":["a"],"modified":[],"removed":["b"]}`
	for name, tc := range map[string]struct {
		body string
		want bool
	}{
		"whole":             {`"commits":[` + commit + `]`, true},
		"forced":            {`"forced":true,"commits":[` + commit + `]`, false},
		"created":           {`"created":true,"commits":[` + commit + `]`, false},
		"created by zeros":  {`"before":"0000","commits":[` + commit + `]`, false},
		"no commits":        {`"commits":[]`, false},
		"no list":           {`"size":1`, false},
		"head is missing":   {`"commits":[{"id":"21","added":[],"modified":[],"removed":[]}]`, false},
		"files are missing": {`"commits":[{"id":"22"}]`, false},
		"2048 commits":      {`"commits":[` + strings.Repeat(`{"id":"21","added":[],"modified":[],"removed":[]},`, 2047) + commit + `]`, false},
		"2047 commits":      {`"commits":[` + strings.Repeat(`{"id":"21","added":[],"modified":[],"removed":[]},`, 2046) + commit + `]`, true},
		"3000 files":        {`"commits":[{"id":"22","added":["a"` + strings.Repeat(`,"a"`, 2999) + `],"modified":[],"removed":[]}]`, false},
		"2999 files":        {`"commits":[{"id":"22","added":["a"` + strings.Repeat(`,"a"`, 2998) + `],"modified":[],"removed":[]}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			out := accept(t, compile(t, "github", route(nil)), github(`{"ref":"refs/heads/main","after":"22",`+tc.body+`}`))
			if got := out.Events[0].PathsComplete; got != tc.want {
				t.Errorf("pathsComplete %v", got)
			}
		})
	}
}

// The commit of an annotated tag stands in head_commit.
func TestGitHubAnnotatedTag(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Tags = []string{"v*"} }))
	d := decision(t, h, github(`{"ref":"refs/tags/v1","after":"aaaa","head_commit":{"id":"bbbb","message":"m","timestamp":"2026-01-02T03:04:05+01:00"}}`))
	if d.Origin == nil || d.Origin.SHA != "bbbb" || d.Origin.Committed != "2026-01-02T03:04:05+01:00" {
		t.Errorf("decision %+v", d)
	}
}
