package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

func TestFunctionCodes(t *testing.T) {
	s := newSite(t, smallLimits())
	const exactly = 32 << 10
	padded := func(length int) string { return `{"run":"a"}` + strings.Repeat(" ", length-len(`{"run":"a"}`)) }
	tests := []struct {
		name, method, path, body string
		headers                  []string
		code                     int
		kind                     string
	}{
		{"works", "POST", "/functions/echo", `{"run":"a"}`, []string{asCI, asJSON}, 200, ""},
		{"with a charset", "POST", "/functions/echo", `{"run":"a"}`, []string{asCI, "Content-Type: application/json; charset=utf-8"}, 200, ""},
		{"no token", "POST", "/functions/echo", `{}`, []string{asJSON}, 401, "unproven"},
		{"wrong token", "POST", "/functions/echo", `{}`, []string{"Authorization: Bearer x", asJSON}, 401, "unproven"},
		{"two tokens", "POST", "/functions/echo", `{}`, []string{asCI, asCI, asJSON}, 401, "unproven"},
		{"no token, no function", "POST", "/functions/nothing", `{}`, []string{asJSON}, 401, "unproven"},
		{"no function", "POST", "/functions/nothing", `{}`, []string{asCI, asJSON}, 404, "not-found"},
		{"a right to what is not there", "POST", "/functions/gone", `{}`, []string{asCI, asJSON}, 404, "not-found"},
		{"no right", "POST", "/functions/echo", `{}`, []string{"Authorization: Bearer reader-token-text", asJSON}, 403, "forbidden"},
		{"no right comes before the body", "POST", "/functions/echo", `{`, []string{"Authorization: Bearer reader-token-text"}, 403, "forbidden"},
		{"not JSON", "POST", "/functions/echo", `run: a`, []string{asCI, asJSON}, 400, "malformed"},
		{"empty", "POST", "/functions/echo", ``, []string{asCI, asJSON}, 400, "malformed"},
		{"two values", "POST", "/functions/echo", `{}{}`, []string{asCI, asJSON}, 400, "malformed"},
		{"unknown key", "POST", "/functions/echo", `{"rnu":"a"}`, []string{asCI, asJSON}, 422, "invalid"},
		{"gzip", "POST", "/functions/echo", `{}`, []string{asCI, asJSON, "Content-Encoding: gzip"}, 415, "media-type"},
		{"identity", "POST", "/functions/echo", `{"run":"a"}`, []string{asCI, asJSON, "Content-Encoding: identity"}, 200, ""},
		{"form", "POST", "/functions/echo", `run=a`, []string{asCI, "Content-Type: application/x-www-form-urlencoded"}, 415, "media-type"},
		{"text", "POST", "/functions/echo", `{}`, []string{asCI, "Content-Type: text/plain"}, 415, "media-type"},
		{"no type", "POST", "/functions/echo", `{}`, []string{asCI}, 415, "media-type"},
		{"batch of events", "POST", "/functions/echo", `[]`, []string{asCI, "Content-Type: application/cloudevents-batch+json"}, 415, "media-type"},
		{"exactly the limit", "POST", "/functions/echo", padded(exactly), []string{asCI, asJSON}, 200, ""},
		{"limit + 1", "POST", "/functions/echo", padded(exactly + 1), []string{asCI, asJSON}, 413, "too-large"},
		{"far over the limit", "POST", "/functions/echo", padded(4 << 20), []string{asCI, asJSON}, 413, "too-large"},
		{"GET reads", "GET", "/functions/read?run=a", "", []string{asCI}, 200, ""},
		{"GET does not write", "GET", "/functions/echo?run=a", "", []string{asCI}, 405, "method"},
		{"GET with an unknown parameter", "GET", "/functions/read?rnu=a", "", []string{asCI}, 422, "invalid"},
		{"GET with a broken query", "GET", "/functions/read?run=%zz", "", []string{asCI}, 400, "malformed"},
		{"GET with bytes that are no text", "GET", "/functions/read?run=%ff", "", []string{asCI}, 400, "malformed"},
		{"PUT", "PUT", "/functions/echo", `{}`, []string{asCI, asJSON}, 405, "method"},
		{"dry run", "POST", "/functions/echo?dryRun=true", `{"run":"a"}`, []string{asCI, asJSON}, 200, ""},
		{"dry run of another text", "POST", "/functions/echo?dryRun=yes", `{"run":"a"}`, []string{asCI, asJSON}, 422, "invalid"},
		{"another parameter", "POST", "/functions/echo?dryrun=true", `{"run":"a"}`, []string{asCI, asJSON}, 422, "invalid"},
		{"key twice", "POST", "/functions/echo", `{}`, []string{asCI, asJSON, "Idempotency-Key: a", "Idempotency-Key: a"}, 422, "invalid"},
		{"long key", "POST", "/functions/echo", `{}`, []string{asCI, asJSON, "Idempotency-Key: " + strings.Repeat("x", limits.KeyBytes+1)}, 422, "invalid"},
		{"panic", "POST", "/functions/panics", `{}`, []string{asCI, asJSON}, 500, "internal"},
		{"an error that is no fault", "POST", "/functions/fails", `{}`, []string{asCI, asJSON}, 500, "internal"},
		{"out of time", "POST", "/functions/slow", `{}`, []string{asCI, asJSON}, 503, "unavailable"},
		{"elsewhere", "POST", "/elsewhere", `{}`, []string{asCI, asJSON}, 404, "not-found"},
		{"below a function", "POST", "/functions/echo/x", `{}`, []string{asCI, asJSON}, 404, "not-found"},
		{"metrics have their own port", "GET", "/metrics", "", nil, 404, "not-found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := do(t, s.request(t, test.method, test.path, test.body, test.headers...))
			if got.code != test.code {
				t.Fatalf("%d %s, want %d", got.code, got.body, test.code)
			}
			if test.kind == "" {
				return
			}
			if p := got.problem(t); p.Kind != test.kind || p.Detail == "" {
				t.Errorf("%+v", p)
			}
			if got.code == 401 && got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("nothing says how to prove oneself")
			}
			if got.code == 503 && got.header.Get("Retry-After") == "" {
				t.Error("nothing says when to come again")
			}
		})
	}
	if log := s.log.String(); !strings.Contains(log, "a bug of ours") || !strings.Contains(log, "function_test") && !strings.Contains(log, "site_test") {
		t.Error("the panic is not in the log with its stack")
	}
}

func TestEveryKindIsAProblem(t *testing.T) {
	s := newSite(t, smallLimits())
	for _, kind := range fault.Kinds {
		got := do(t, s.request(t, "POST", "/functions/is-"+string(kind), `{}`, asCI, asJSON))
		want := problem{kind.Status(), string(kind), "as asked", []fault.Problem{{Path: "tasks[2].id", Detail: "is wrong"}}}
		if diff := cmp.Diff(want, got.problem(t)); diff != "" {
			t.Error(diff)
		}
		if got := got.header.Get("Retry-After") != ""; got != kind.Retryable() {
			t.Errorf("%s: Retry-After is there: %v", kind, got)
		}
	}
}

func TestCallHoldsWhatWasAsked(t *testing.T) {
	s := newSite(t, smallLimits())
	do(t, s.request(t, "POST", "/functions/echo?dryRun=true", `{"run":"a"}`, asCI, asJSON, "Idempotency-Key: k-1"))
	call := <-s.calls
	if call.Caller.Name != "ci" || call.Key != "k-1" || !call.DryRun || string(call.Body) != `{"run":"a"}` || call.Origin != nil {
		t.Errorf("%+v", call)
	}
	got := do(t, s.request(t, "GET", "/functions/read?run=a%20b&tail=5&deep=true&names=x&names=y&ratio=1e3", "", asCI))
	if want := `{"run":"a b","tail":5,"deep":true,"names":["x","y"],"ratio":1000}`; strings.TrimSpace(got.body) != want {
		t.Errorf("%s", got.body)
	}
	got = do(t, s.request(t, "GET", "/functions/read?run=a&tail=many", "", asCI))
	if p := got.problem(t); len(p.Errors) != 1 || p.Errors[0].Path != "tail" {
		t.Errorf("%+v", p)
	}
	got = do(t, s.request(t, "GET", "/functions/read?run=a&run=b", "", asCI))
	if p := got.problem(t); len(p.Errors) != 1 || p.Errors[0].Path != "run" {
		t.Errorf("%+v", p)
	}
}

func TestCallersHaveARate(t *testing.T) {
	set := smallLimits()
	set.CallerRate, set.CallerBurst = 0.001, 2
	s := newSite(t, set)
	for range 2 {
		if got := do(t, s.request(t, "GET", "/functions/read", "", asCI)); got.code != 200 {
			t.Fatal(got)
		}
	}
	got := do(t, s.request(t, "GET", "/functions/read", "", asCI))
	if got.code != 429 || got.header.Get("Retry-After") == "" || got.problem(t).Kind != "too-many" {
		t.Errorf("%+v", got)
	}
	if got := do(t, s.request(t, "GET", "/functions/read", "", "Authorization: Bearer reader-token-text")); got.code != 200 {
		t.Errorf("another caller pays for it: %+v", got)
	}
	if value := s.scrape(t, `runhook_requests_total{code="429",function="read"}`); value != "1" {
		t.Error(value)
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	s := newSite(t, smallLimits())
	do(t, s.request(t, "POST", "/functions/echo?dryRun=true", `{"run":"text-of-a-body"}`, asCI, asJSON))
	do(t, s.request(t, "POST", "/functions/echo", `{"text-of-a-body":1}`, asCI, asJSON))
	do(t, s.request(t, "GET", "/functions/read?run=text-of-a-query", "", asCI))
	do(t, s.request(t, "POST", "/functions/echo", `{}`, "Authorization: Bearer text-of-a-token", asJSON))
	log := s.log.String()
	for _, word := range []string{"text-of-a-body", "text-of-a-query", "text-of-a-token", ciToken} {
		if strings.Contains(log, word) {
			t.Errorf("%s is in the log: %s", word, log)
		}
	}
	for _, word := range []string{`"path":"/functions/echo"`, `"status":422`, `"caller":"ci"`, `"kind":"invalid"`, `"address":"127.0.0.1"`} {
		if !strings.Contains(log, word) {
			t.Errorf("%s is not in the log: %s", word, log)
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	s := newSite(t, smallLimits())
	do(t, s.request(t, "POST", "/functions/submit", `{}`, asCI, asJSON))
	do(t, s.request(t, "POST", "/functions/panics", `{}`, asCI, asJSON))
	do(t, s.request(t, "POST", "/functions/no-"+strings.Repeat("x", 100), `{}`, asCI, asJSON))
	for series, want := range map[string]string{
		`runhook_requests_total{code="201",function="submit"}`:                 "1",
		`runhook_requests_total{code="500",function="panics"}`:                 "1",
		`runhook_requests_total{code="404",function="none"}`:                   "1",
		`runhook_request_duration_seconds_count{code="201",function="submit"}`: "1",
		`runhook_runs_submitted_total`:                                         "1",
	} {
		if got := s.scrape(t, series); got != want {
			t.Errorf("%s: %s, want %s", series, got, want)
		}
	}
}

func TestMethodsOfReads(t *testing.T) {
	s := newSite(t, smallLimits())
	got := do(t, s.request(t, "GET", "/functions/echo", "", asCI))
	if got.header.Get("Allow") != http.MethodPost {
		t.Errorf("%+v", got.header)
	}
	if got := do(t, s.request(t, "POST", "/functions/read", `{"run":"a"}`, asCI, asJSON)); got.code != 200 {
		t.Errorf("%+v", got)
	}
}
