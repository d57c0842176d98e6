package sink

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
)

// HTTP takes CloudEvents in binary mode. The webhook EventSource of Argo Events
// is one, too: it verifies no signatures, but a bearer token.
type HTTP struct {
	url        string
	types      []string
	argoEvents bool
	key        []byte       // of the signature; nil: none
	token      secret.Value // nil: none
	client     *http.Client
	now        func() time.Time
}

// NewHTTP makes the receiver of a sink of the config.
func NewHTTP(c config.Sink) (*HTTP, error) {
	h := &HTTP{url: c.URL, types: c.Types, argoEvents: c.Type == config.SinkArgoEvents, client: Client(http.DefaultTransport), now: time.Now}
	switch {
	case c.Secret == nil:
	case h.argoEvents:
		h.token = c.Key
	default:
		key, err := signingKey(c.Key)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "sink %s: %v", c.Name, err)
		}
		h.key = key
	}
	return h, nil
}

// Client is how every sink calls: within a time, and nowhere that the config
// did not say, which a redirect would lead to.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: limits.SinkTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Order keeps the events of a run in theirs, if they are of the types that the
// sink wants.
func (h *HTTP) Order(e event.Event) (string, error) {
	if len(h.types) > 0 && !slices.Contains(h.types, e.Type()) {
		return "", ErrUnwanted
	}
	return e.RunOf(), nil
}

// Ready never waits.
func (h *HTTP) Ready(context.Context) error { return nil }

// Post sends one event once.
func (h *HTTP) Post(ctx context.Context, e event.Event) error {
	request, err := h.request(ctx, e)
	if err != nil {
		return errors.Join(ErrRefused, err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return Reason(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, limits.SinkAnswer) // the connection is used again
	if h.argoEvents && response.StatusCode == http.StatusBadRequest {
		// So it answers also while it starts and while it ends.
		return errors.New("answered 400")
	}
	return Judge(response)
}
