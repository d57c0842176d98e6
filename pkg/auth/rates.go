package auth

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Rates limits each of many keys to the same rate. It remembers a bounded
// number of keys: the one that has been away longest is forgotten first, and
// had by then mostly regained its burst.
type Rates struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	lock sync.Mutex // finding and making a key's limiter is one step
	keys *lru.Cache
}

// NewRates limits every key to a rate a second, and to a burst at once.
func NewRates(perSecond float64, burst int) *Rates {
	return &Rates{rate: rate.Limit(perSecond), burst: burst, now: time.Now, keys: lru.New(limits.RateKeys)}
}

// Take counts one for a key, or gives a TooMany fault that says when to come again.
func (r *Rates) Take(key string) error {
	now, limiter := r.now(), r.limiter(key)
	if limiter.AllowN(now, 1) {
		return nil
	}
	return r.tooMany(limiter, now)
}

// Peek gives the fault that Take would give, and counts nothing.
func (r *Rates) Peek(key string) error {
	now, limiter := r.now(), r.limiter(key)
	if limiter.TokensAt(now) >= 1 {
		return nil
	}
	return r.tooMany(limiter, now)
}

func (r *Rates) limiter(key string) *rate.Limiter {
	r.lock.Lock()
	defer r.lock.Unlock()
	if known, ok := r.keys.Get(key); ok {
		return known.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(r.rate, r.burst)
	r.keys.Add(key, limiter)
	return limiter
}

func (r *Rates) tooMany(limiter *rate.Limiter, now time.Time) error {
	err := fault.New(fault.TooMany, "more than %g a second", float64(r.rate))
	err.RetryAfter = time.Duration((1 - limiter.TokensAt(now)) / float64(r.rate) * float64(time.Second))
	return err
}

// Address is the key of a connection's remote address: an IPv6 host has a
// whole /64 to choose from.
func Address(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if prefix, err := ip.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}
