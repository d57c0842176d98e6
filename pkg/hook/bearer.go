package hook

import (
	"net/http"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// bearer is any sender that knows a token.
type bearer struct{ secrets []secret.Value }

func newBearer(_ *Spec, secrets []secret.Value, _ *fault.List) Provider { return bearer{secrets} }

func (b bearer) Verify(d Delivery, _ time.Time) error { return verifyBearer(d.Header, b.secrets) }

func (bearer) Identify(http.Header) (event, delivery string) { return "", "" }

func (bearer) Default() Type { return Other }

// Knows no names: nothing says where one would stand.
func (bearer) Knows(string) bool { return false }

func (bearer) Decode(string, object) ([]Event, error) { return []Event{newEvent(Other)}, nil }
