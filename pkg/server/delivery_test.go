package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// push is a signed push to a branch.
func (s *site) push(t *testing.T, branch string) *http.Request {
	t.Helper()
	p := hooktest.NewGitHubPush("text-of-a-message")
	p.Branch = branch
	request, err := hooktest.GitHubRequest(s.url+"/hooks/acme", p.Body(), []byte(hookSecret))
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// signed is a signed body of a length.
func (s *site) signed(t *testing.T, length int, contentType string) *http.Request {
	t.Helper()
	p := hooktest.NewGitHubPush("hello")
	p.Branch = "nobody-asked"
	body := p.Body()
	if contentType == "application/x-www-form-urlencoded" {
		body = []byte("payload=%7B%22ref%22%3A%22refs%2Fheads%2Fx%22%7D&x=")
	}
	body = append(body, []byte(strings.Repeat(" ", length-len(body)))...)
	request, err := hooktest.GitHubRequest(s.url+"/hooks/acme", body, []byte(hookSecret))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	return request
}

// inChunks hides the length.
func inChunks(request *http.Request) *http.Request {
	request.Body, request.ContentLength = io.NopCloser(io.MultiReader(request.Body)), -1
	return request
}

func TestDeliveryCodes(t *testing.T) {
	s := newSite(t, smallLimits())
	const limit = 64 << 10
	const form = "application/x-www-form-urlencoded"
	with := func(request *http.Request, name, value string) *http.Request {
		request.Header.Set(name, value)
		return request
	}
	to := func(request *http.Request, path string) *http.Request {
		request.URL.Path = path
		return request
	}
	tests := []struct {
		name    string
		request *http.Request
		code    int
	}{
		{"a push that runs", s.push(t, "main"), 202},
		{"a push that nobody asked for", s.push(t, "other"), 200},
		{"a function that panics", s.push(t, "broken"), 500},
		{"a function that conflicts", s.push(t, "taken"), 409},
		{"unknown hook", to(s.push(t, "main"), "/hooks/nobody"), 404},
		{"below a hook", to(s.push(t, "main"), "/hooks/acme/x"), 404},
		{"no hook", to(s.push(t, "main"), "/hooks/"), 404},
		{"GET", s.request(t, "GET", "/hooks/acme", ""), 405},
		{"PUT", s.request(t, "PUT", "/hooks/acme", "{}", asJSON), 405},
		{"wrong signature", with(s.push(t, "main"), "X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64)), 401},
		{"gzip", with(s.push(t, "main"), "Content-Encoding", "gzip"), 415},
		{"XML", with(s.push(t, "main"), "Content-Type", "application/xml"), 415},
		{"exactly the limit", s.signed(t, limit, "application/json"), 200},
		{"exactly the limit in chunks", inChunks(s.signed(t, limit, "application/json")), 200},
		{"exactly the limit as a form", s.signed(t, limit, form), 200},
		{"limit + 1", s.signed(t, limit+1, "application/json"), 413},
		{"limit + 1 in chunks", inChunks(s.signed(t, limit+1, "application/json")), 413},
		{"limit + 1 as a form", s.signed(t, limit+1, form), 413},
		{"limit + 1 as a form in chunks", inChunks(s.signed(t, limit+1, form)), 413},
		{"far over the limit in chunks", inChunks(s.signed(t, 64*limit, "application/json")), 413},
		{"encoding comes before length", with(s.signed(t, limit+1, "application/json"), "Content-Encoding", "br"), 415},
		{"signed, and no JSON", func() *http.Request {
			request, err := hooktest.GitHubRequest(s.url+"/hooks/acme", []byte("[1"), []byte(hookSecret))
			if err != nil {
				t.Fatal(err)
			}
			return request
		}(), 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := do(t, test.request)
			if got.code != test.code {
				t.Fatalf("%d %s, want %d", got.code, got.body, test.code)
			}
			if strings.Contains(got.body, `"decisions"`) {
				return
			}
			if p := got.problem(t); p.Detail == "" {
				t.Errorf("%+v", p)
			}
		})
	}
	for series, want := range map[string]string{
		`runhook_hooks_total{provider="github",result="accepted"}`:   "1",
		`runhook_hooks_total{provider="github",result="unproven"}`:   "1",
		`runhook_hooks_total{provider="github",result="conflict"}`:   "1",
		`runhook_hooks_total{provider="github",result="internal"}`:   "1",
		`runhook_hooks_total{provider="github",result="too-large"}`:  "5",
		`runhook_hooks_total{provider="github",result="media-type"}`: "3",
		`runhook_requests_total{code="201",function="submit"}`:       "1",
		`runhook_requests_total{code="500",function="panics"}`:       "1",
		`runhook_runs_submitted_total`:                               "1",
	} {
		if got := s.scrape(t, series); got != want {
			t.Errorf("%s: %s, want %s", series, got, want)
		}
	}
	log := s.log.String()
	for _, word := range []string{hookSecret, "text-of-a-message", "sha256="} {
		if strings.Contains(log, word) {
			t.Errorf("%s is in the log", word)
		}
	}
	if !strings.Contains(log, "a bug of ours") || !strings.Contains(log, `"caller":"hook:acme/broken"`) {
		t.Error("the panic of a route's function is not in the log")
	}
}

func TestAHookRetriesAClusterThatIsAwayWithinItsTime(t *testing.T) {
	set := smallLimits()
	set.HookTime.Duration = 300 * time.Millisecond
	s := newSite(t, set)
	got := do(t, s.push(t, "away"))
	if got.code != 503 || got.header.Get("Retry-After") == "" {
		t.Fatalf("%+v", got)
	}
	var told hook.Answer
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, d := range told.Decisions {
		found = found || d.Route == "away" && d.Error != nil && d.Error.Code == 503
	}
	if !found {
		t.Errorf("%s", got.body)
	}
	if n := s.scrape(t, `runhook_requests_total{code="503",function="is-unavailable"}`); n == "0" || n == "1" {
		t.Errorf("called %s times", n)
	}
}

func TestUnprovenDeliveriesUseUpNobodysShare(t *testing.T) {
	set := smallLimits()
	set.AddressRate, set.AddressBurst = 0.001, 2
	set.HookRate, set.HookBurst = 0.001, 3
	s := newSite(t, set)
	bad := func() answer {
		request := s.push(t, "other")
		request.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
		return do(t, request)
	}
	for i, want := range []int{401, 401, 429, 429} {
		if got := bad(); got.code != want || (want == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for i, want := range []int{200, 200, 200, 429} {
		if got := do(t, s.push(t, "other")); got.code != want {
			t.Errorf("verified, %d: %+v", i, got)
		}
	}
	if value := s.scrape(t, `runhook_hooks_total{provider="github",result="too-many"}`); value != "3" {
		t.Error(value)
	}
}

func TestAlertmanagerIsNeverAnswered429(t *testing.T) {
	set := smallLimits()
	set.HookRate, set.HookBurst = 0.001, 1
	s := newSite(t, set)
	send := func() answer {
		return do(t, s.request(t, "POST", "/hooks/alerts", `{"version":"4","status":"firing","alerts":[]}`, asJSON, "Authorization: Bearer "+alertSecret))
	}
	if got := send(); got.code != 200 {
		t.Fatalf("%+v", got)
	}
	got := send()
	if got.code != 503 || got.header.Get("Retry-After") == "" {
		t.Fatalf("%+v", got)
	}
	if p := got.problem(t); p.Kind != "too-many" {
		t.Errorf("%+v", p)
	}
}
