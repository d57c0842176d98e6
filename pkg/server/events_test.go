package server

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ce "github.com/cloudevents/sdk-go/v2/event"
	"log/slog"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/secret"
)

// eventsSite is a server with a stream: `all` sees every run, `mine` its own,
// `other` has no right to events.
func eventsSite(t *testing.T) (*Server, *stream.Stream, string) {
	t.Helper()
	tokens := []config.Token{
		{Name: "all", Value: secret.Of("all-token"), Rights: config.Rights{Functions: []string{config.EventsRight}, Runs: config.RunsAll}},
		{Name: "mine", Value: secret.Of("mine-token"), Rights: config.Rights{Functions: []string{config.EventsRight}}},
		{Name: "other", Value: secret.Of("other-token"), Rights: config.Rights{Functions: []string{"submit"}}},
	}
	shown := stream.New(func() []stream.Item { return nil })
	s := New(Options{
		Functions: functions{}, Limits: limits.Default(), Callers: auth.New(config.Auth{Tokens: tokens}, nil, limits.Default()),
		Metrics: metrics.New("test", nil, nil), Log: slog.New(slog.DiscardHandler), Events: shown, Foreign: owner.ForeignRead,
	})
	server := httptest.NewServer(s.routes())
	t.Cleanup(server.Close)
	return s, shown, server.URL + "/events"
}

func get(t *testing.T, url, token string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestEvents(t *testing.T) {
	s, shown, url := eventsSite(t)
	for _, refused := range []struct {
		url, token string
		want       int
	}{
		{url, "", 401}, {url, "wrong", 401}, {url, "other-token", 403}, {url + "?colour=red", "all-token", 422}, {url + "?phase=%zz", "all-token", 400},
	} {
		if got := get(t, refused.url, refused.token); got.StatusCode != refused.want || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s with %q: %d %s, want %d", refused.url, refused.token, got.StatusCode, got.Header.Get("Content-Type"), refused.want)
		}
	}
	all, mine := get(t, url, "all-token"), get(t, url+"?phase=Failed", "mine-token")
	for _, response := range []*http.Response{all, mine} {
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", response.StatusCode, response.Header)
		}
	}
	// Both have entered when their first line has come.
	lines := map[string]*bufio.Scanner{"all": bufio.NewScanner(all.Body), "mine": bufio.NewScanner(mine.Body)}
	for who, l := range lines {
		if !l.Scan() || !strings.HasPrefix(l.Text(), ":") {
			t.Fatalf("%s: %q", who, l.Text())
		}
	}
	for id, caller := range map[string]string{"1": "somebody", "2": "mine"} {
		e := ce.New()
		e.SetID(id)
		e.SetType("runhook.run.failed.v1")
		e.SetSource("/namespaces/runs")
		e.SetSubject("run-of-" + caller)
		shown.Publish([]event.Event{{Event: e, Phase: "Failed"}}, owner.Run{
			Labels: map[string]string{owner.RunLabel: "run-of-" + caller}, Annotations: map[string]string{owner.Annotation: caller},
		})
	}
	data := func(who string) string {
		for lines[who].Scan() {
			if text, ok := strings.CutPrefix(lines[who].Text(), "data: "); ok {
				return text
			}
		}
		t.Fatalf("the stream of %s ended", who)
		return ""
	}
	if both := data("all") + data("all"); !strings.Contains(both, "run-of-somebody") || !strings.Contains(both, "run-of-mine") {
		t.Errorf("all sees %s", both)
	}
	if own := data("mine"); !strings.Contains(own, "run-of-mine") {
		t.Errorf("one who may see its own runs sees %s", own)
	}
	s.endStreams()
	for who, l := range lines {
		for l.Scan() {
			if strings.HasPrefix(l.Text(), "data: ") {
				t.Errorf("%s got one more: %s", who, l.Text())
			}
		}
		if err := l.Err(); err != nil {
			t.Errorf("the stream of %s broke off: %v", who, err)
		}
	}
}
