package sink

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	ce "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
)

const kind = "runhook.task.running.v1"

// made makes an event of a run's task.
func made(id, subject string) event.Event {
	e := ce.New()
	e.SetID(id)
	e.SetType(kind)
	e.SetSource("/namespaces/runs")
	e.SetSubject(subject)
	e.SetTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	e.SetDataContentType(ce.ApplicationJSON)
	e.DataEncoded = []byte(`{"task":"fit"}`)
	return event.Event{Event: e}
}

// tally counts what became of events.
type tally struct {
	lock sync.Mutex
	of   map[string]int
}

func (c *tally) Sent(_, result string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[result]++
}

// receiver remembers requests, and answers the codes that it is given first.
type receiver struct {
	*httptest.Server
	lock     sync.Mutex
	codes    []int
	requests []*http.Request
	bodies   []string
}

func newReceiver(t *testing.T, codes ...int) *receiver {
	r := &receiver{codes: codes}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.lock.Lock()
		defer r.lock.Unlock()
		r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
		if len(r.codes) > 0 {
			w.WriteHeader(r.codes[0])
			r.codes = r.codes[1:]
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// ids lists the events that came, in order.
func (r *receiver) ids() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	var all []string
	for _, request := range r.requests {
		all = append(all, request.Header.Get("Ce-Id"))
	}
	return all
}

func newHTTP(url string) *HTTP {
	return &HTTP{url: url, client: Client(http.DefaultTransport), now: func() time.Time { return time.Unix(1750000000, 0) }}
}

func newSink(url string, counter Counter, log io.Writer) *Sink {
	return startHTTP(newHTTP(url), counter, log)
}

func startHTTP(h *HTTP, counter Counter, log io.Writer) *Sink {
	o := Options{Name: "bus", Receiver: h, Retry: time.Minute, Counter: counter, Log: slog.New(slog.NewTextHandler(log, nil))}
	return start(o, time.Millisecond)
}

func TestBinaryMode(t *testing.T) {
	r, c := newReceiver(t), &tally{}
	s := newSink(r.URL, c, io.Discard)
	s.Send(made("1", "run/fan(0:ä b)"))
	s.Flush(t.Context())
	if len(r.requests) != 1 {
		t.Fatalf("%d requests", len(r.requests))
	}
	got := map[string]string{"body": r.bodies[0], "method": r.requests[0].Method}
	for _, name := range []string{"Ce-Id", "Ce-Type", "Ce-Source", "Ce-Subject", "Ce-Time", "Ce-Specversion", "Content-Type", "Content-Length", "Webhook-Id"} {
		got[name] = r.requests[0].Header.Get(name)
	}
	want := map[string]string{
		"Ce-Id": "1", "Ce-Type": kind, "Ce-Source": "/namespaces/runs", "Ce-Subject": "run/fan(0:%C3%A4%20b)", "Ce-Time": "2026-01-02T03:04:05Z",
		"Ce-Specversion": "1.0", "Content-Type": "application/json", "Content-Length": "14", "Webhook-Id": "", "body": `{"task":"fit"}`, "method": "POST",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"delivered": 1}, c.of); diff != "" {
		t.Error(diff)
	}
}

// The vector is one that another implementation of Standard Webhooks signed.
func TestSignature(t *testing.T) {
	key, err := signingKey(secret.Of("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"object_kind":"push","ref":"refs/heads/main","checkout_sha":"5555555555555555555555555555555555555555"}`)
	if got, want := signature(key, "msg_aa11", "1750000000", body), "W9T8E70mV2UN0To281CjPPrM4lV4mJsWNrCNmcY6rGM="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r := newReceiver(t)
	h := newHTTP(r.URL)
	h.key = key
	s := startHTTP(h, &tally{}, io.Discard)
	s.Send(made("1", "run"))
	s.Flush(t.Context())
	got := r.requests[0].Header
	if got.Get("webhook-id") != "1" || got.Get("webhook-timestamp") != "1750000000" || got.Get("webhook-signature") != "v1,"+signature(key, "1", "1750000000", []byte(r.bodies[0])) {
		t.Errorf("headers: %v", got)
	}
}

func TestNewRefusesASecretThatCannotSign(t *testing.T) {
	for _, text := range []string{"not base64!", "whsec_", "whsec_%%"} {
		c := config.Sink{Name: "bus", URL: "http://127.0.0.1:1", Secret: &secret.Ref{Env: "X"}, Key: secret.Of(text)}
		if _, err := NewHTTP(c); err == nil || err.Error() != "sink bus: a signing secret is written whsec_<base64>" {
			t.Errorf("%q: %v", text, err)
		}
	}
	c := config.Sink{Name: "bus", URL: "http://127.0.0.1:1", Secret: &secret.Ref{Env: "X"}, Key: secret.Of("whsec_" + base64.StdEncoding.EncodeToString([]byte("key")))}
	if _, err := NewHTTP(c); err != nil {
		t.Error(err)
	}
}

// What may pass later is tried again, with the order of the run kept; what is
// refused is a dead letter, and the next one follows.
func TestOrderAndRetries(t *testing.T) {
	r, c := newReceiver(t, 503, 429, 200, 400, 500), &tally{}
	var log bytes.Buffer
	s := newSink(r.URL, c, &log)
	for i := range 4 {
		s.Send(made(fmt.Sprint(i), "run/fit"))
	}
	s.Flush(t.Context())
	if diff := cmp.Diff([]string{"0", "0", "0", "1", "2", "2", "3"}, r.ids()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"delivered": 3, "retried": 3, "dead": 1}, c.of); diff != "" {
		t.Error(diff)
	}
	if text := log.String(); strings.Count(text, "an event is given up") != 1 || !strings.Contains(text, "id=1") || !strings.Contains(text, "subject=run/fit") || !strings.Contains(text, "400") {
		t.Errorf("the log: %s", text)
	}
}

// Runs do not wait for each other, and each has its own order.
func TestManyRuns(t *testing.T) {
	r, c := newReceiver(t), &tally{}
	s := newSink(r.URL, c, io.Discard)
	const runs, each = 50, 10
	for i := range each {
		for run := range runs {
			s.Send(made(fmt.Sprintf("%d/%d", run, i), fmt.Sprintf("run-%d/fit", run)))
		}
	}
	s.Flush(t.Context())
	next := map[string]int{}
	for _, id := range r.ids() {
		run, number, _ := strings.Cut(id, "/")
		if number != fmt.Sprint(next[run]) {
			t.Fatalf("run %s: %s came when %d was due", run, number, next[run])
		}
		next[run]++
	}
	if len(next) != runs || c.of["delivered"] != runs*each {
		t.Errorf("%d runs, %v", len(next), c.of)
	}
}

// A sink that is away fills its queue and no more; the flush ends in time, and
// every event is either counted as delivered or as dead.
func TestASinkThatIsAway(t *testing.T) {
	blocked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		select {
		case <-blocked:
		case <-request.Context().Done():
		}
	}))
	defer server.Close()
	defer close(blocked)
	c := &tally{}
	s := newSink(server.URL, c, io.Discard)
	const more = 10
	total := limits.SinkQueue + 1 + more
	for i := range total {
		s.Send(made(fmt.Sprint(i), "run"))
	}
	c.lock.Lock()
	full := c.of["dead"]
	c.lock.Unlock()
	if full < more {
		t.Errorf("%d are dead with a full queue, want %d or one more", full, more)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Flush(ctx)
	s.Send(made("late", "run"))
	if diff := cmp.Diff(map[string]int{"dead": total + 1}, c.of); diff != "" {
		t.Error(diff)
	}
}

func TestTypes(t *testing.T) {
	r := newReceiver(t)
	h := newHTTP(r.URL)
	h.types = []string{"runhook.run.failed.v1"}
	s := startHTTP(h, &tally{}, io.Discard)
	s.Send(made("1", "run"))
	s.Flush(t.Context())
	if len(r.ids()) != 0 {
		t.Error("an event that the sink does not want was sent")
	}
}

// A redirect is not followed, and an error does not hold the URL's token.
func TestRedirectAndSecretURL(t *testing.T) {
	elsewhere := newReceiver(t)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	var log bytes.Buffer
	c := &tally{}
	h, err := NewHTTP(config.Sink{Name: "bus", URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	s := startHTTP(h, c, &log)
	s.Send(made("1", "run"))
	s.Flush(t.Context())
	if len(elsewhere.ids()) > 0 || c.of["dead"] != 1 {
		t.Errorf("elsewhere %v, %v", elsewhere.ids(), c.of)
	}
	gone := newSink("http://127.0.0.1:1/?token=hunter2", c, &log)
	gone.Retry = time.Millisecond
	gone.Send(made("2", "run"))
	gone.Flush(t.Context())
	if c.of["dead"] != 2 || strings.Contains(log.String(), "hunter2") {
		t.Errorf("%v, log: %s", c.of, log.String())
	}
}
