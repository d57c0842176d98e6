package sink

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/secret"
)

// The EventSource gets a token and no signature; that it answers 400 while it
// starts loses nothing. An ordinary sink means its 400, and gets no token.
func TestArgoEvents(t *testing.T) {
	for kind, want := range map[string]struct {
		key    string
		header string
		counts map[string]int
	}{
		config.SinkArgoEvents: {"s3cret", "Bearer s3cret", map[string]int{"retried": 1, "delivered": 1}},
		config.SinkHTTP:       {"whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "", map[string]int{"dead": 1}},
	} {
		r, c := newReceiver(t, 400), &tally{}
		h, err := NewHTTP(config.Sink{Name: "bus", Type: kind, URL: r.URL, Secret: &secret.Ref{Env: "X"}, Key: secret.Of(want.key)})
		if err != nil {
			t.Fatal(err)
		}
		s := startHTTP(h, c, io.Discard)
		s.Send(made("1", "run"))
		s.Flush(t.Context())
		header := r.requests[0].Header
		if header.Get("Authorization") != want.header || (header.Get("webhook-signature") == "") != (kind == config.SinkArgoEvents) {
			t.Errorf("%s: %v", kind, header)
		}
		if diff := cmp.Diff(want.counts, c.of); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}
