package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/utils/lru"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// Audience is what a ServiceAccount's token must have been made for: a token
// for the API server, stolen from some pod, opens nothing here.
const Audience = "runhook"

const accountPrefix = "system:serviceaccount:"

// Reviewer asks the API server whose token this is.
type Reviewer interface {
	ReviewToken(ctx context.Context, token string, audiences []string) (authenticationv1.TokenReviewStatus, error)
}

// accounts tells ServiceAccounts by their tokens.
type accounts struct {
	callers  map[string]function.Caller // by Kubernetes' user name
	reviewer Reviewer
	verdicts *lru.Cache // of verdict by the token's hash
	failures *Rates     // of reviews, by address
	now      func() time.Time
}

// verdict is what a review said, for a few seconds.
type verdict struct {
	user  string // empty: not believed
	until time.Time
}

func newAccounts(list []config.ServiceAccount, reviewer Reviewer, set limits.Set) *accounts {
	a := &accounts{
		callers:  map[string]function.Caller{},
		reviewer: reviewer,
		verdicts: lru.New(limits.Tokens),
		failures: NewRates(set.AddressRate, set.AddressBurst),
		now:      time.Now,
	}
	for _, account := range list {
		user := accountPrefix + account.Namespace + ":" + account.Name
		a.callers[user] = caller(user, account.Rights)
	}
	return a
}

func (a *accounts) caller(ctx context.Context, token, address string) (function.Caller, error) {
	hash := sha256.Sum256([]byte(token))
	if cached, ok := a.verdicts.Get(hash); ok && a.now().Before(cached.(verdict).until) {
		return a.named(cached.(verdict).user)
	}
	// Anybody can send tokens that only the API server can refuse.
	if err := a.failures.Peek(address); err != nil {
		return function.Caller{}, err
	}
	status, err := a.reviewer.ReviewToken(ctx, token, []string{Audience})
	if err != nil {
		return function.Caller{}, err
	}
	user := ""
	if status.Authenticated && slices.Contains(status.Audiences, Audience) {
		user = status.User.Username
	} else {
		_ = a.failures.Take(address) // only counted: the answer is 401 either way
	}
	a.verdicts.Add(hash, verdict{user, a.now().Add(limits.TokenTime)})
	return a.named(user)
}

func (a *accounts) named(user string) (function.Caller, error) {
	if c, ok := a.callers[user]; ok {
		return c, nil
	}
	return function.Caller{}, errUnknown
}

// maybeOurs looks into a token without believing it: what is no token of a
// ServiceAccount for our audience need not be shown to the API server.
func maybeOurs(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return false
	}
	var claims struct {
		Subject  string   `json:"sub"`
		Audience audience `json:"aud"`
	}
	return json.Unmarshal(text, &claims) == nil &&
		strings.HasPrefix(claims.Subject, accountPrefix) && slices.Contains(claims.Audience, Audience)
}

// audience is a text or a list of texts: RFC 7519 allows both.
type audience []string

// UnmarshalJSON takes either form.
func (a *audience) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*a = make(audience, 1)
		return json.Unmarshal(data, &(*a)[0])
	}
	return json.Unmarshal(data, (*[]string)(a))
}
