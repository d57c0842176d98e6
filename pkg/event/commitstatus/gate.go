package commitstatus

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/runhook/runhook/pkg/limits"
)

// gate keeps all calls of a sink within what we allow ourselves, and lets none
// through while the host wants to be left alone.
type gate struct {
	calls, writes *rate.Limiter
	lock          sync.Mutex
	shut          time.Time // until then
}

func newGate() *gate {
	return &gate{
		calls:  rate.NewLimiter(limits.StatusCallRate, limits.StatusCallBurst),
		writes: rate.NewLimiter(limits.StatusRate, limits.StatusBurst),
	}
}

// wait returns when the host may be called, at one of our paces.
func (g *gate) wait(ctx context.Context, pace *rate.Limiter) error {
	if err := pace.Wait(ctx); err != nil {
		return err
	}
	for {
		g.lock.Lock()
		pause := time.Until(g.shut)
		g.lock.Unlock()
		if pause <= 0 {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// note reads in an answer how long the host wants to be left alone.
func (g *gate) note(response *http.Response) {
	until := time.Now().Add(rest(response.StatusCode, response.Header, time.Now()))
	g.lock.Lock()
	defer g.lock.Unlock()
	if until.After(g.shut) {
		g.shut = until
	}
}

// rest is how long an answer asks not to be called: by Retry-After, or because
// nothing is left of the rate that it allows. A refusal without either that is
// about the rate asks for a minute, as GitHub documents.
func rest(code int, header http.Header, now time.Time) time.Duration {
	var pause time.Duration
	limited := code == http.StatusTooManyRequests || code == http.StatusForbidden || code == http.StatusServiceUnavailable
	if text := header.Get("Retry-After"); limited && text != "" {
		if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
			pause = time.Duration(seconds) * time.Second
		} else if at, err := http.ParseTime(text); err == nil {
			pause = at.Sub(now)
		}
	}
	if spent(header) {
		pause = max(pause, reset(header, now))
	}
	if pause <= 0 && code == http.StatusTooManyRequests {
		pause = limits.StatusRest
	}
	return min(max(pause, 0), limits.StatusRestCap)
}

// spent reports whether the host's rate is used up: GitHub writes its headers
// with X-, GitLab without.
func spent(header http.Header) bool {
	return header.Get("X-RateLimit-Remaining") == "0" || header.Get("RateLimit-Remaining") == "0"
}

// epoch tells a point in time from a number of seconds to wait: hosts write either.
const epoch = 1_000_000_000

func reset(header http.Header, now time.Time) time.Duration {
	for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} {
		seconds, err := strconv.ParseInt(header.Get(name), 10, 64)
		switch {
		case err != nil:
		case seconds < epoch:
			return time.Duration(seconds) * time.Second
		default:
			return time.Unix(seconds, 0).Sub(now)
		}
	}
	return limits.StatusRest
}
