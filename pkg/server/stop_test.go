package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/function"
)

// working replaces the function read by one that works until it is let go.
func (s *site) working() (started, letGo chan struct{}) {
	started, letGo = make(chan struct{}), make(chan struct{})
	s.Functions.(functions)["read"] = function.Function{
		Name: "read", Reads: true, Timeout: time.Minute,
		Handle: func(ctx context.Context, _ function.Call) (function.Response, error) {
			close(started)
			select {
			case <-letGo:
				return function.Response{Body: "done"}, nil
			case <-ctx.Done():
				return function.Response{}, ctx.Err()
			}
		},
	}
	return started, letGo
}

func TestRequestsUnderWayAreAnswered(t *testing.T) {
	set := smallLimits()
	set.DrainTime.Duration = 500 * time.Millisecond
	s := newSite(t, set)
	started, letGo := s.working()
	answered := make(chan answer, 1)
	go func() { answered <- do(t, s.request(t, "GET", "/functions/read", "", asCI)) }()
	<-started
	s.cancel()
	waitFor(t, func() bool { return do(t, s.request(t, "GET", "/readyz", "")).code == 503 })
	if got := do(t, s.request(t, "GET", "/healthz", "")); got.code != 200 {
		t.Errorf("not ready is not unhealthy: %+v", got)
	}
	waitFor(t, func() bool { // no connection is accepted any more
		c, err := net.Dial("tcp", s.Addr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(letGo)
	if got := <-answered; got.code != 200 || strings.TrimSpace(got.body) != `"done"` {
		t.Errorf("%+v", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("%v", err)
	}
}

// A call that waits for something is told, and does not hold the end up.
func TestCallsThatWaitHearOfTheEnd(t *testing.T) {
	s := newSite(t, smallLimits())
	started := make(chan struct{})
	s.Functions.(functions)["read"] = function.Function{
		Name: "read", Reads: true, Timeout: time.Minute,
		Handle: func(ctx context.Context, call function.Call) (function.Response, error) {
			close(started)
			select {
			case <-call.Stopping:
				return function.Response{Body: "unchanged"}, nil
			case <-ctx.Done():
				return function.Response{}, ctx.Err()
			}
		},
	}
	answered := make(chan answer, 1)
	go func() { answered <- do(t, s.request(t, "GET", "/functions/read", "", asCI)) }()
	<-started
	s.cancel()
	if got := <-answered; got.code != 200 || strings.TrimSpace(got.body) != `"unchanged"` {
		t.Errorf("%+v", got)
	}
	if err := <-s.done; err != nil || strings.Contains(s.log.String(), "cut off") {
		t.Errorf("%v", err)
	}
}

func TestStoppingHasATime(t *testing.T) {
	set := smallLimits()
	set.ShutdownTime.Duration = 100 * time.Millisecond
	s := newSite(t, set)
	started, _ := s.working()
	answered := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(s.request(t, "GET", "/functions/read", "", asCI))
		if err == nil {
			response.Body.Close()
		}
		answered <- err
	}()
	<-started
	s.cancel()
	if err := <-s.done; err != nil {
		t.Errorf("%v", err)
	}
	if err := <-answered; err == nil {
		t.Error("what did not end in time is not cut off")
	}
	if !strings.Contains(s.log.String(), "cut off") {
		t.Error("and nothing says so")
	}
}

func TestAddressesThatAreTaken(t *testing.T) {
	s := newSite(t, smallLimits())
	taken := New(s.Options)
	taken.Options.Listen = s.Addr().String()
	if err := taken.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("%v", err)
	}
	metricsTaken := New(s.Options)
	metricsTaken.ListenMetrics = s.MetricsAddr().String()
	if err := metricsTaken.Run(context.Background()); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatal("it does not come about")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
