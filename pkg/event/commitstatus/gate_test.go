package commitstatus

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/runhook/runhook/pkg/limits"
)

func TestRest(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		code   int
		header map[string]string
		want   time.Duration
	}{
		{"nothing said", 201, nil, 0},
		{"Retry-After in seconds", 429, map[string]string{"Retry-After": "17"}, 17 * time.Second},
		{"Retry-After as a date", 503, map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:05:05 GMT"}, time.Minute},
		{"Retry-After in the past", 503, map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:00:05 GMT"}, 0},
		{"GitHub's secondary rate", 403, map[string]string{"Retry-After": "60"}, time.Minute},
		{"Retry-After of a good answer is none", 201, map[string]string{"Retry-After": "60"}, 0},
		{"a refusal without a word", 429, nil, limits.StatusRest},
		{"a 403 that is not about a rate", 403, nil, 0},
		{"GitHub's last call", 201, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767323345"}, 300 * time.Second},
		{"GitHub has more", 201, map[string]string{"X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "1767323345"}, 0},
		{"GitLab's last call", 201, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "1767323345"}, 300 * time.Second},
		{"seconds to wait", 201, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": "30"}, 30 * time.Second},
		{"spent, until nobody knows", 201, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, limits.StatusRest},
		{"the longer of two", 429, map[string]string{"Retry-After": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767323345"}, 300 * time.Second},
		{"nonsense is bounded", 429, map[string]string{"Retry-After": "999999999"}, limits.StatusRestCap},
		{"negative", 429, map[string]string{"Retry-After": "-5"}, limits.StatusRest},
	} {
		header := http.Header{}
		for name, value := range tc.header {
			header.Set(name, value)
		}
		if got := rest(tc.code, header, now); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTheGateIsShutForAllUntilTheHostsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.note(&http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"90"}}})
		g.note(&http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"10"}}}) // an older answer that came later
		begin := time.Now()
		if err := g.wait(t.Context(), g.calls); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited != 90*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestTheGateKeepsOurOwnPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		for _, tc := range []struct {
			pace        *rate.Limiter
			rate, burst int
		}{{g.calls, limits.StatusCallRate, limits.StatusCallBurst}, {g.writes, limits.StatusRate, limits.StatusBurst}} {
			begin := time.Now()
			for range tc.burst + 30 {
				if err := g.wait(t.Context(), tc.pace); err != nil {
					t.Fatal(err)
				}
			}
			if waited, want := time.Since(begin).Round(time.Second), 30*time.Second/time.Duration(tc.rate); waited != want {
				t.Errorf("waited %s, want %s", waited, want)
			}
		}
	})
}

func TestTheGateEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.note(&http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"90"}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.wait(ctx, g.calls); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
