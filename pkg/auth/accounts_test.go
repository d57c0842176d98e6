package auth

import (
	"context"
	"encoding/base64"
	"strconv"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// reviews answers by token, and counts how often each was shown.
type reviews struct {
	answers map[string]authenticationv1.TokenReviewStatus
	err     error
	shown   map[string]int
}

func (r *reviews) ReviewToken(_ context.Context, token string, audiences []string) (authenticationv1.TokenReviewStatus, error) {
	r.shown[token]++
	if len(audiences) != 1 || audiences[0] != "runhook" {
		return authenticationv1.TokenReviewStatus{}, fault.New(fault.Internal, "reviewed for %v", audiences)
	}
	return r.answers[token], r.err
}

func jwt(claims string) string {
	return "header." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".signature"
}

func believed(user string, audiences ...string) authenticationv1.TokenReviewStatus {
	return authenticationv1.TokenReviewStatus{
		Authenticated: true, User: authenticationv1.UserInfo{Username: user}, Audiences: audiences,
	}
}

const planner = "system:serviceaccount:planner:planner"

func newTestAccounts(r *reviews) (*Authenticator, *time.Time) {
	a := New(config.Auth{ServiceAccounts: []config.ServiceAccount{
		{Namespace: "planner", Name: "planner", Rights: config.Rights{Functions: []string{"nodes"}, Scheduling: true}},
	}}, r, limits.Default())
	clock := time.Unix(1_700_000_000, 0)
	a.accounts.now = func() time.Time { return clock }
	a.accounts.failures.now = a.accounts.now
	r.shown = map[string]int{}
	return a, &clock
}

func ask(a *Authenticator, token string) (function.Caller, error) {
	return a.Caller(context.Background(), authorization("Bearer "+token), "192.0.2.1")
}

func TestServiceAccounts(t *testing.T) {
	good := jwt(`{"sub":"` + planner + `","aud":["runhook"]}`)
	tests := []struct {
		name, token string
		status      authenticationv1.TokenReviewStatus
		known       bool
		shown       int
	}{
		{"the planner", good, believed(planner, "runhook"), true, 1},
		{"one audience as text", jwt(`{"sub":"` + planner + `","aud":"runhook"}`), believed(planner, "runhook"), true, 1},
		{"not believed", good, authenticationv1.TokenReviewStatus{User: authenticationv1.UserInfo{Username: planner}, Audiences: []string{"runhook"}}, false, 1},
		{"a server that knows no audiences", good, believed(planner), false, 1},
		{"the review is for another audience", good, believed(planner, "https://kubernetes"), false, 1},
		{"not of the config", good, believed("system:serviceaccount:other:planner", "runhook"), false, 1},
		{"a person", good, believed("planner", "runhook"), false, 1},
		{"made for the API server", jwt(`{"sub":"` + planner + `","aud":["https://kubernetes"]}`), believed(planner, "runhook"), false, 0},
		{"of a token Secret, without audience", jwt(`{"sub":"` + planner + `"}`), believed(planner, "runhook"), false, 0},
		{"of a person", jwt(`{"sub":"me","aud":["runhook"]}`), believed(planner, "runhook"), false, 0},
		{"no JWT", "abc", believed(planner, "runhook"), false, 0},
		{"no JSON in it", "a." + base64.RawURLEncoding.EncodeToString([]byte("x")) + ".c", believed(planner, "runhook"), false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &reviews{answers: map[string]authenticationv1.TokenReviewStatus{test.token: test.status}}
			a, _ := newTestAccounts(r)
			caller, err := ask(a, test.token)
			if test.known && (err != nil || caller.Name != planner || !caller.MayCall("nodes") || !caller.MaySchedule() || caller.AllRuns) {
				t.Errorf("%+v, %v", caller, err)
			}
			if !test.known && fault.KindOf(err) != fault.Unproven {
				t.Errorf("%+v, %v", caller, err)
			}
			if got := r.shown[test.token]; got != test.shown {
				t.Errorf("shown to the API server %d times, want %d", got, test.shown)
			}
		})
	}
}

func TestVerdictsAreKeptForSeconds(t *testing.T) {
	good := jwt(`{"sub":"` + planner + `","aud":["runhook"]}`)
	r := &reviews{answers: map[string]authenticationv1.TokenReviewStatus{good: believed(planner, "runhook")}}
	a, clock := newTestAccounts(r)
	for range 3 {
		if _, err := ask(a, good); err != nil {
			t.Fatal(err)
		}
	}
	if r.shown[good] != 1 {
		t.Errorf("shown %d times within seconds", r.shown[good])
	}
	r.answers[good] = authenticationv1.TokenReviewStatus{} // the account was deleted
	*clock = clock.Add(limits.TokenTime)
	if _, err := ask(a, good); fault.KindOf(err) != fault.Unproven {
		t.Errorf("still believed: %v", err)
	}
	if _, err := ask(a, good); fault.KindOf(err) != fault.Unproven || r.shown[good] != 2 {
		t.Errorf("a refusal is kept too: %v, shown %d times", err, r.shown[good])
	}
}

func TestAnAPIServerThatIsAwayIsNotKept(t *testing.T) {
	good := jwt(`{"sub":"` + planner + `","aud":["runhook"]}`)
	r := &reviews{err: fault.New(fault.Unavailable, "away"), answers: map[string]authenticationv1.TokenReviewStatus{good: believed(planner, "runhook")}}
	a, _ := newTestAccounts(r)
	if _, err := ask(a, good); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	r.err = nil
	if _, err := ask(a, good); err != nil {
		t.Error(err)
	}
}

func TestForgedTokensDoNotFloodTheAPIServer(t *testing.T) {
	r := &reviews{}
	a, clock := newTestAccounts(r)
	forged := func(i int) string {
		return jwt(`{"sub":"` + planner + `","aud":["runhook"],"n":` + strconv.Itoa(i) + `}`)
	}
	for i := 10; i < 10+limits.AddressBurst; i++ {
		if _, err := ask(a, forged(i)); fault.KindOf(err) != fault.Unproven {
			t.Fatal(err)
		}
	}
	_, err := ask(a, forged(99))
	if fault.KindOf(err) != fault.TooMany || fault.From(err).RetryAfter <= 0 || r.shown[forged(99)] != 0 {
		t.Errorf("%v", err)
	}
	if _, err := a.Caller(context.Background(), authorization("Bearer "+forged(98)), "192.0.2.2"); fault.KindOf(err) != fault.Unproven {
		t.Errorf("another address is not to blame: %v", err)
	}
	*clock = clock.Add(2 * time.Second)
	if _, err := ask(a, forged(97)); fault.KindOf(err) != fault.Unproven {
		t.Errorf("after a while: %v", err)
	}
}
