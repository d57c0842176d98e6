package commitstatus

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ce "github.com/cloudevents/sdk-go/v2/event"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/status"
)

const (
	sha   = "0123456789abcdef0123456789abcdef01234567"
	token = "s3cret-t0ken"
)

// call is what a host was sent.
type call struct {
	Method, Path, Query, Authorization string
	Body                               map[string]any
}

// git is a git host that answers what it is told.
type git struct {
	*httptest.Server
	lock    sync.Mutex
	calls   []call
	answers []func(w http.ResponseWriter)
}

func newGit(t *testing.T, answers ...func(w http.ResponseWriter)) *git {
	g := &git{answers: answers}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c := call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Authorization: r.Header.Get("Authorization")}
		if c.Authorization == "" {
			c.Authorization = r.Header.Get("Private-Token")
		}
		_ = json.Unmarshal(body, &c.Body) // none in a GET
		g.lock.Lock()
		defer g.lock.Unlock()
		g.calls = append(g.calls, c)
		if len(g.answers) == 0 {
			t.Errorf("%s %s was not expected", r.Method, r.URL)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		g.answers[0](w)
		g.answers = g.answers[1:]
	}))
	t.Cleanup(g.Close)
	return g
}

func says(code int, body string, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func (g *git) host() string { return strings.TrimPrefix(g.URL, "http://") }

func (g *git) receiver(t *testing.T, provider string) *Receiver {
	t.Helper()
	r, err := New(config.Sink{Name: "status", Provider: provider, BaseURL: g.URL, Key: secret.Of(token), Repositories: []string{"acme/pump"}},
		func(run string) string { return "https://hooks.acme/functions/status?run=" + run })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// about is an event about the run of a push to the host.
func about(host string, phase status.Phase) event.Event {
	e := ce.New()
	e.SetID(string(phase))
	e.SetType("runhook.run." + strings.ToLower(string(phase)) + ".v1")
	e.SetSubject("pump-1")
	return event.Event{Event: e, Phase: phase, Run: &event.Run{Run: "pump-1", Phase: phase, Message: "because", Source: &function.Origin{
		Route: "acme/train", Host: host, Repo: "acme/pump", SHA: sha, Ref: "refs/heads/feature/x",
	}}}
}

const link = "https://hooks.acme/functions/status?run=pump-1"

// Each provider is asked as its documentation says.
func TestRequests(t *testing.T) {
	const context = "runhook/acme/train"
	for _, tc := range []struct {
		provider string
		answers  []func(http.ResponseWriter)
		want     []call
	}{
		{"github", []func(http.ResponseWriter){says(200, `{"state":"pending","statuses":[]}`), says(201, `{"id":1}`)}, []call{
			{Method: "GET", Path: "/api/v3/repos/acme/pump/commits/" + sha + "/status", Query: "per_page=100", Authorization: "Bearer " + token},
			{Method: "POST", Path: "/api/v3/repos/acme/pump/statuses/" + sha, Authorization: "Bearer " + token,
				Body: map[string]any{"state": "error", "context": context, "description": "Stopped: because", "target_url": link}},
		}},
		{"gitea", []func(http.ResponseWriter){says(200, `{"state":"","statuses":null}`), says(201, `{"id":1}`)}, []call{
			{Method: "GET", Path: "/api/v1/repos/acme/pump/commits/" + sha + "/status", Authorization: "token " + token},
			{Method: "POST", Path: "/api/v1/repos/acme/pump/statuses/" + sha, Authorization: "token " + token,
				Body: map[string]any{"state": "error", "context": context, "description": "Stopped: because", "target_url": link}},
		}},
		{"gitlab", []func(http.ResponseWriter){says(201, `{"id":1}`)}, []call{
			{Method: "POST", Path: "/api/v4/projects/acme%2Fpump/statuses/" + sha, Authorization: token,
				Body: map[string]any{"state": "failed", "name": context, "description": "Stopped: because", "target_url": link, "ref": "feature/x"}},
		}},
		{"bitbucket", []func(http.ResponseWriter){says(201, `{}`)}, []call{
			{Method: "POST", Path: "/2.0/repositories/acme/pump/commit/" + sha + "/statuses/build", Authorization: "Bearer " + token,
				Body: map[string]any{"state": "FAILED", "key": context, "name": context, "description": "Stopped: because", "url": link, "refname": "feature/x"}},
		}},
		{"bitbucket-server", []func(http.ResponseWriter){says(204, "")}, []call{
			{Method: "POST", Path: "/rest/api/1.0/projects/acme/repos/pump/commits/" + sha + "/builds", Authorization: "Bearer " + token,
				Body: map[string]any{"state": "FAILED", "key": context, "name": context, "description": "Stopped: because", "url": link, "ref": "refs/heads/feature/x"}},
		}},
	} {
		for _, provider := range append([]string{tc.provider}, map[string][]string{"gitea": {"forgejo"}}[tc.provider]...) {
			t.Run(provider, func(t *testing.T) {
				g := newGit(t, tc.answers...)
				if err := g.receiver(t, provider).Post(t.Context(), about(g.host(), status.Stopped)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, g.calls); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// The states of every provider.
func TestStates(t *testing.T) {
	words := map[string][]string{ // of Pending, Running, Succeeded, Stopped
		"github":           {"pending", "pending", "success", "error"},
		"gitea":            {"pending", "pending", "success", "error"},
		"gitlab":           {"pending", "running", "success", "failed"},
		"bitbucket":        {"INPROGRESS", "INPROGRESS", "SUCCESSFUL", "FAILED"},
		"bitbucket-server": {"INPROGRESS", "INPROGRESS", "SUCCESSFUL", "FAILED"},
	}
	for provider, states := range words {
		for i, phase := range []status.Phase{status.Pending, status.Running, status.Succeeded, status.Stopped} {
			answers := []func(http.ResponseWriter){says(201, `{}`)}
			if provider == "github" || provider == "gitea" {
				answers = append([]func(http.ResponseWriter){says(200, `{}`)}, answers...)
			}
			g := newGit(t, answers...)
			if err := g.receiver(t, provider).Post(t.Context(), about(g.host(), phase)); err != nil {
				t.Errorf("%s %s: %v", provider, phase, err)
				continue
			}
			if got := g.calls[len(g.calls)-1].Body["state"]; got != states[i] {
				t.Errorf("%s shows %s as %v, want %s", provider, phase, got, states[i])
			}
		}
	}
}

// A new leader sends again what the last one sent: no host lists it twice.
func TestWhatIsShownIsNotSentAgain(t *testing.T) {
	shown := `{"statuses":[
		{"context":"ci/other","state":"error","status":"error","description":"Stopped: because","target_url":"` + link + `"},
		{"context":"runhook/acme/train","state":"STATE","status":"STATE","description":"Stopped: because","target_url":"` + link + `"}]}`
	for _, provider := range []string{"github", "gitea"} {
		g := newGit(t, says(200, strings.ReplaceAll(shown, "STATE", "error")), says(200, strings.ReplaceAll(shown, "STATE", "pending")), says(201, `{}`))
		r := g.receiver(t, provider)
		if err := r.Post(t.Context(), about(g.host(), status.Stopped)); !errors.Is(err, sink.ErrSkipped) || len(g.calls) != 1 {
			t.Errorf("%s: %v after %d calls", provider, err, len(g.calls))
		}
		if err := r.Post(t.Context(), about(g.host(), status.Stopped)); err != nil || len(g.calls) != 3 {
			t.Errorf("%s, another state is shown: %v after %d calls", provider, err, len(g.calls))
		}
	}
	g := newGit(t, says(400, `{"message":"Cannot transition status via :run from :running (Reason(s): Status cannot transition via \"run\")"}`), says(400, `{"message":"state does not have a valid value"}`))
	r := g.receiver(t, "gitlab")
	if err := r.Post(t.Context(), about(g.host(), status.Running)); !errors.Is(err, sink.ErrSkipped) {
		t.Errorf("gitlab: %v", err)
	}
	if err := r.Post(t.Context(), about(g.host(), status.Running)); !errors.Is(err, sink.ErrRefused) {
		t.Errorf("gitlab refuses for another reason: %v", err)
	}
}

// A host may be broken: what it lists is read with care.
func TestAHostThatListsNonsense(t *testing.T) {
	for _, provider := range []string{"github", "gitea"} {
		for _, list := range []string{`null`, `{}`, `{"statuses":null}`, `{"statuses":[null,{}]}`} {
			g := newGit(t, says(200, list), says(201, `null`))
			if err := g.receiver(t, provider).Post(t.Context(), about(g.host(), status.Running)); err != nil || len(g.calls) != 2 {
				t.Errorf("%s, %s: %v after %d calls", provider, list, err, len(g.calls))
			}
		}
	}
}

// What the payload names chooses among what the config allows; all else is
// left alone without a call.
func TestOnlyCommitsThatTheConfigAllows(t *testing.T) {
	g := newGit(t)
	r := g.receiver(t, "bitbucket")
	for name, change := range map[string]func(*function.Origin){
		"another repository":    func(o *function.Origin) { o.Repo = "acme/other" },
		"a part of the name":    func(o *function.Origin) { o.Repo = "acme/pum" },
		"another host":          func(o *function.Origin) { o.Host = "evil.example" },
		"another port":          func(o *function.Origin) { o.Host = "127.0.0.1:1" },
		"not a commit":          func(o *function.Origin) { o.SHA = "../../../user" },
		"a short commit":        func(o *function.Origin) { o.SHA = sha[:12] },
		"a route with a path":   func(o *function.Origin) { o.Route = "../x" },
		"a route that is long":  func(o *function.Origin) { o.Route = "a/" + strings.Repeat("x", 64) },
		"a repository of paths": func(o *function.Origin) { o.Repo = "acme/pump/../other" },
	} {
		e := about(g.host(), status.Running)
		change(e.Run.Source)
		if _, err := r.Order(e); !errors.Is(err, sink.ErrSkipped) {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Post(t.Context(), e); !errors.Is(err, sink.ErrSkipped) {
			t.Errorf("%s is posted: %v", name, err)
		}
	}
	spelled := newGit(t, says(201, `{}`))
	e := about(spelled.host(), status.Running)
	e.Run.Source.Repo = "Acme/PUMP"
	if err := spelled.receiver(t, "bitbucket").Post(t.Context(), e); err != nil || !strings.Contains(spelled.calls[0].Path, "/acme/pump/") {
		t.Errorf("%v, %+v", err, spelled.calls)
	}
}

func TestOrder(t *testing.T) {
	g := newGit(t)
	r := g.receiver(t, "gitea")
	order := func(change func(*event.Event)) string {
		e := about(g.host(), status.Running)
		change(&e)
		key, err := r.Order(e)
		if err != nil && !errors.Is(err, sink.ErrUnwanted) {
			t.Error(err)
		}
		return key
	}
	first := order(func(*event.Event) {})
	for name, other := range map[string]string{
		"another commit": order(func(e *event.Event) { e.Run.Source.SHA = "1" + sha[1:] }),
		"another route":  order(func(e *event.Event) { e.Run.Source.Route = "acme/test" }),
	} {
		if other == first || other == "" {
			t.Errorf("%s has the order %q", name, other)
		}
	}
	for name, none := range map[string]string{
		"a task's event":       order(func(e *event.Event) { e.Run = nil }),
		"a submitted run":      order(func(e *event.Event) { e.Run.Source = nil }),
		"an alert's run":       order(func(e *event.Event) { e.Run.Source.SHA = "" }),
		"a foreign delivery's": order(func(e *event.Event) { e.Run.Source.Repo = "" }),
	} {
		if none != "" {
			t.Errorf("%s is wanted: %q", name, none)
		}
	}
}

// What may pass is tried again; what is refused is not, with a word on why. No
// error holds the token, whatever the host says back.
func TestAnswers(t *testing.T) {
	elsewhere := newGit(t)
	again := func(err error) bool {
		return err != nil && !errors.Is(err, sink.ErrRefused) && !errors.Is(err, sink.ErrSkipped)
	}
	refused := func(err error) bool { return errors.Is(err, sink.ErrRefused) }
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter)
		right  func(error) bool
		words  string
	}{
		{"500", says(500, `{"message":"`+token+`"}`), again, "answered 500"},
		{"502 of a proxy", says(502, `<html>`), again, "answered 502"},
		{"429", says(429, `{}`), again, ""},
		{"the rate is used up", says(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"), again, "rate"},
		{"secondary rate", says(403, `{"message":"You have exceeded a secondary rate limit"}`, "Retry-After", "1"), again, "rate"},
		{"401", says(401, `{"message":"bad `+token+`"}`), refused, "the token is not valid there"},
		{"403", says(403, `{}`), refused, "may not set statuses"},
		{"404", says(404, `{}`), refused, "no such repository or commit"},
		{"422", says(422, `{"message":"No commit found for SHA"}`), refused, "no such commit"},
		{"redirect", says(307, ``, "Location", elsewhere.URL), refused, "a redirect is not followed"},
		{"moved", says(301, ``, "Location", elsewhere.URL), refused, "a redirect is not followed"},
	} {
		for _, provider := range []string{"github", "gitlab", "gitea", "bitbucket", "bitbucket-server"} {
			answers := []func(http.ResponseWriter){tc.answer}
			if provider == "github" || provider == "gitea" {
				answers = append([]func(http.ResponseWriter){says(200, `{}`)}, answers...)
			}
			g := newGit(t, answers...)
			err := g.receiver(t, provider).Post(t.Context(), about(g.host(), status.Running))
			if !tc.right(err) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%s of %s: %v", tc.name, provider, err)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Errorf("%s of %s tells the token: %v", tc.name, provider, err)
			}
		}
	}
}

// The first question is judged as the last one is.
func TestAHostThatDoesNotTellItsStatuses(t *testing.T) {
	for _, provider := range []string{"github", "gitea"} {
		g := newGit(t, says(503, ``), says(404, `{}`))
		r := g.receiver(t, provider)
		if err := r.Post(t.Context(), about(g.host(), status.Running)); err == nil || errors.Is(err, sink.ErrRefused) {
			t.Errorf("%s, 503: %v", provider, err)
		}
		if err := r.Post(t.Context(), about(g.host(), status.Running)); !errors.Is(err, sink.ErrRefused) {
			t.Errorf("%s, 404: %v", provider, err)
		}
	}
}

func TestAHostThatIsAway(t *testing.T) {
	for _, provider := range []string{"github", "gitlab", "gitea", "bitbucket", "bitbucket-server"} {
		g := newGit(t)
		r := g.receiver(t, provider)
		host := g.host()
		g.Close()
		err := r.Post(t.Context(), about(host, status.Running))
		if err == nil || errors.Is(err, sink.ErrRefused) || errors.Is(err, sink.ErrSkipped) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", provider, err)
		}
	}
}

func TestAPI(t *testing.T) {
	for _, tc := range []struct{ base, public, path, want string }{
		{"https://github.com", "github.com", "api/v3/", "https://api.github.com/"},
		{"https://github.com:443/", "github.com", "api/v3/", "https://api.github.com/"},
		{"https://git.lab/hub", "github.com", "api/v3/", "https://git.lab/hub/api/v3/"},
		{"https://bitbucket.org", "bitbucket.org", "2.0/", "https://api.bitbucket.org/2.0/"},
	} {
		request, err := http.NewRequest(http.MethodGet, tc.base, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := api(request.URL, tc.public, tc.path); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.base, got, tc.want)
		}
	}
}

func TestALongKey(t *testing.T) {
	g := newGit(t, says(201, `{}`))
	e := about(g.host(), status.Running)
	e.Run.Source.Route = "acme/" + strings.Repeat("x", 60)
	if err := g.receiver(t, "bitbucket").Post(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if key, _ := g.calls[0].Body["key"].(string); len(key) != keyLength {
		t.Errorf("the key %q has %d characters", key, len(key))
	}
}

// Whatever client brings it, an answer that asks to be left alone is heard: all
// that follow wait.
func TestAnAnswerShutsTheGate(t *testing.T) {
	for _, provider := range []string{"github", "gitlab", "gitea", "bitbucket", "bitbucket-server"} {
		g := newGit(t, says(429, `{}`, "Retry-After", "3000"))
		r := g.receiver(t, provider)
		if err := r.Post(t.Context(), about(g.host(), status.Running)); err == nil {
			t.Errorf("%s: 429 was taken", provider)
		}
		if left := time.Until(r.gate.shut); left < 2900*time.Second || left > 3000*time.Second {
			t.Errorf("%s: the gate is shut for %s", provider, left)
		}
	}
}
