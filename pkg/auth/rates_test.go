package auth

import (
	"fmt"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

func TestRates(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	r := NewRates(2, 3)
	r.now = func() time.Time { return clock }
	for i := range 3 {
		if err := r.Take("a"); err != nil {
			t.Fatalf("%d of the burst: %v", i, err)
		}
	}
	err := r.Take("a")
	if fault.KindOf(err) != fault.TooMany || fault.From(err).RetryAfter != 500*time.Millisecond {
		t.Errorf("%v after %s", err, fault.From(err).RetryAfter)
	}
	if fault.KindOf(r.Peek("a")) != fault.TooMany {
		t.Error("peek does not see it")
	}
	if r.Take("b") != nil {
		t.Error("one key uses up another's share")
	}
	clock = clock.Add(500 * time.Millisecond)
	for range 2 {
		if r.Peek("a") != nil {
			t.Error("to peek counts")
		}
	}
	if r.Take("a") != nil {
		t.Error("it does not come back after the time it said")
	}
	if r.Take("a") == nil {
		t.Error("more than the rate")
	}
}

func TestRatesRememberABoundedNumber(t *testing.T) {
	r := NewRates(1, 1)
	for i := range limits.RateKeys + 100 {
		if err := r.Take(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.keys.Len(); n != limits.RateKeys {
		t.Errorf("%d keys are remembered, want %d", n, limits.RateKeys)
	}
}

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1234":            "192.0.2.1",
		"[::ffff:192.0.2.1]:1234":   "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":         "fe80::/64",
		"host:80":                   "host",
		"@":                         "@",
	} {
		if got := Address(remote); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
