package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/secret"
)

// site is a server on a port of its own, with everything around it faked.
type site struct {
	*Server
	url    string
	log    *logBuffer
	calls  chan function.Call // what reached the function echo
	cancel context.CancelFunc
	done   chan error
}

// logBuffer is a log that several requests write.
type logBuffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(line)
}

func (l *logBuffer) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

const (
	ciToken     = "ci-token-text"
	hookSecret  = "harbour-lamp-42"
	alertSecret = "alert-token-text"
)

type echoRequest struct {
	Run   string   `json:"run"`
	Tail  int      `json:"tail,omitempty"`
	Deep  bool     `json:"deep,omitempty"`
	Names []string `json:"names,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"`
}

type functions map[string]function.Function

func (f functions) Find(name string) (function.Function, bool) {
	found, ok := f[name]
	return found, ok
}

// smallLimits let tests reach them.
func smallLimits() limits.Set {
	set := limits.Default()
	set.HookBody, set.FunctionBody = resource.MustParse("64Ki"), resource.MustParse("32Ki")
	set.DrainTime = metav1.Duration{}
	return set
}

func newSite(t *testing.T, set limits.Set) *site {
	t.Helper()
	s := &site{log: &logBuffer{}, calls: make(chan function.Call, 1000), done: make(chan error, 1)}
	table := s.functions()
	var names []string
	for name := range table {
		names = append(names, name)
	}
	tokens := []config.Token{
		{Name: "ci", Value: secret.Of(ciToken), Rights: config.Rights{Functions: append([]string{"gone"}, names...)}},
		{Name: "reader", Value: secret.Of("reader-token-text"), Rights: config.Rights{Functions: []string{"read"}}},
	}
	s.Server = New(Options{
		Listen: "127.0.0.1:0", ListenMetrics: "127.0.0.1:0",
		Functions: table, Hooks: hooks(t, names), Limits: set,
		Callers: auth.New(config.Auth{Tokens: tokens}, nil, set),
		Metrics: metrics.New("test", names, []string{"github", "alertmanager"}),
		OpenAPI: map[string]string{"openapi": "3.1.0"},
		Log:     slog.New(slog.NewJSONHandler(s.log, nil)),
	})
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + s.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.done <- s.Run(ctx) }()
	t.Cleanup(cancel)
	return s
}

func (s *site) functions() functions {
	table := functions{}
	add := func(f function.Function) { table[f.Name] = f }
	echo := function.Typed(func(_ context.Context, call function.Call, request echoRequest) (function.Response, error) {
		s.calls <- call
		return function.Response{Body: request}, nil
	})
	add(function.Function{Name: "echo", Request: echoRequest{}, Handle: echo})
	add(function.Function{Name: "read", Request: echoRequest{}, Reads: true, Handle: echo})
	add(function.Function{Name: "submit", Handle: func(_ context.Context, call function.Call) (function.Response, error) {
		return function.Response{Status: 201, Body: map[string]any{"run": "a", "created": true}}, nil
	}})
	add(function.Function{Name: "panics", Handle: func(context.Context, function.Call) (function.Response, error) { panic("a bug of ours") }})
	add(function.Function{Name: "fails", Handle: func(context.Context, function.Call) (function.Response, error) {
		return function.Response{}, io.ErrUnexpectedEOF
	}})
	add(function.Function{Name: "slow", Timeout: time.Millisecond, Handle: func(ctx context.Context, _ function.Call) (function.Response, error) {
		<-ctx.Done()
		return function.Response{}, ctx.Err()
	}})
	for _, kind := range fault.Kinds {
		add(function.Function{Name: "is-" + string(kind), Handle: func(context.Context, function.Call) (function.Response, error) {
			return function.Response{}, &fault.Error{Kind: kind, Detail: "as asked", Problems: []fault.Problem{{Path: "tasks[2].id", Detail: "is wrong"}}}
		}})
	}
	return table
}

func hooks(t *testing.T, names []string) map[string]*hook.Hook {
	t.Helper()
	all := map[string]*hook.Hook{}
	for _, spec := range []hook.Spec{
		{Path: "acme", Provider: "github", Routes: []hook.RouteSpec{
			{Name: "train", Branches: []string{"main"}, Function: "submit"},
			{Name: "broken", Branches: []string{"broken"}, Function: "panics"},
			{Name: "away", Branches: []string{"away"}, Function: "is-unavailable"},
			{Name: "taken", Branches: []string{"taken"}, Function: "is-conflict"},
		}},
		{Path: "alerts", Provider: "alertmanager", Routes: []hook.RouteSpec{{Name: "free", Function: "submit"}}},
	} {
		text := hookSecret
		if spec.Path == "alerts" {
			text = alertSecret
		}
		compiled, problems := hook.Compile(spec, []secret.Value{secret.Of(text)}, hook.Options{
			Functions:    names,
			CheckRequest: func(string, json.RawMessage) error { return nil }, ValidateRequest: func(string, json.RawMessage) error { return nil },
		})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		all[spec.Path] = compiled
	}
	return all
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   string
}

func do(t *testing.T, request *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// request makes a request with headers `name: value`.
func (s *site) request(t *testing.T, method, path, body string, headers ...string) *http.Request {
	t.Helper()
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Add(name, value)
	}
	return request
}

const (
	asCI   = "Authorization: Bearer " + ciToken
	asJSON = "Content-Type: application/json"
)

func (a answer) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("no problem+json: %d %q %v", a.code, a.body, a.header)
	}
	if p.Status != a.code {
		t.Errorf("it says %d and is %d", p.Status, a.code)
	}
	return p
}

// scrape gives the value of a series, as its line begins.
func (s *site) scrape(t *testing.T, series string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+s.MetricsAddr().String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(do(t, request).body, "\n") {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return value
		}
	}
	t.Fatalf("no series %s", series)
	return ""
}
