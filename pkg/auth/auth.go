// Package auth says who calls: it believes the tokens of the config, and
// tokens of ServiceAccounts that the API server believes.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// Authenticator tells callers by their bearer tokens.
type Authenticator struct {
	tokens   []token
	accounts *accounts
}

// token is a caller with the hash of its token: hashes have one length, so
// that comparing them does not tell a token's.
type token struct {
	hash   [sha256.Size]byte
	caller function.Caller
}

// New makes an authenticator of the config. A nil reviewer believes no
// ServiceAccount, as where there is no cluster.
func New(c config.Auth, reviewer Reviewer, set limits.Set) *Authenticator {
	a := &Authenticator{}
	for _, t := range c.Tokens {
		a.tokens = append(a.tokens, token{sha256.Sum256(t.Value.Bytes()), caller(t.Name, t.Rights)})
	}
	if reviewer != nil && len(c.ServiceAccounts) > 0 {
		a.accounts = newAccounts(c.ServiceAccounts, reviewer, set)
	}
	return a
}

// caller is what the config lets a caller do.
func caller(name string, r config.Rights) function.Caller {
	return function.Caller{
		Name: name, Functions: r.Functions, Hooks: r.Hooks, Queues: r.Queues, Priorities: r.Priorities,
		Repositories: r.Repositories, Secrets: r.Secrets, Claims: r.Claims,
		AllRuns: r.Runs == config.RunsAll, Scheduling: r.Scheduling,
	}
}

// Caller tells who calls, or gives an Unproven fault. The address is the
// connection's: reviews of tokens that turn out wrong are counted against it.
func (a *Authenticator) Caller(ctx context.Context, header http.Header, address string) (function.Caller, error) {
	given, err := bearer(header)
	if err != nil {
		return function.Caller{}, err
	}
	if known, ok := a.known(given); ok {
		return known, nil
	}
	if a.accounts != nil && maybeOurs(given) {
		return a.accounts.caller(ctx, given, address)
	}
	return function.Caller{}, errUnknown
}

var errUnknown = fault.New(fault.Unproven, "the token is not one of those that are known here")

// known looks a token up among those of the config. All are compared, whether
// one has matched or not, so that the time tells nothing.
func (a *Authenticator) known(given string) (function.Caller, bool) {
	hash := sha256.Sum256([]byte(given))
	found := -1
	for i := range a.tokens {
		equal := subtle.ConstantTimeCompare(hash[:], a.tokens[i].hash[:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 {
		return function.Caller{}, false
	}
	return a.tokens[found].caller, true
}

// bearer reads the token of a request: exactly one header, since two readers
// may disagree on which of several counts.
func bearer(header http.Header) (string, error) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return "", fault.New(fault.Unproven, "one header `Authorization: Bearer <token>` is needed")
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	text = strings.TrimLeft(text, " ")
	if !strings.EqualFold(scheme, "Bearer") || text == "" || len(text) > limits.TokenBytes {
		return "", fault.New(fault.Unproven, "the header Authorization is not `Bearer <token>`")
	}
	return text, nil
}
