package hook

import (
	"net/http"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// Provider is a kind of host: how its deliveries are proven and what they say.
type Provider interface {
	// Verify proves that the holder of a secret sent these bytes, or gives an
	// Unproven fault that holds neither digest nor secret.
	Verify(d Delivery, now time.Time) error
	// Identify reads the host's name of the event and the delivery's id.
	Identify(header http.Header) (event, delivery string)
	// Decode reads the events of a payload.
	Decode(event string, payload object) ([]Event, error)
	// Default is the type of the events that a route gets which names none.
	Default() Type
	// Knows reports whether the host has an event of that name.
	Knows(event string) bool
}

// pinger is a provider with a ping that is not signed: it is told apart by its
// headers, answered, and can call nothing.
type pinger interface {
	Ping(header http.Header) (event string, ok bool)
}

// Make builds a provider of a hook's spec and its secrets, and notes what is
// wrong with them.
type Make func(spec *Spec, secrets []secret.Value, problems *fault.List) Provider

// Names of providers in the config that rules elsewhere speak of.
const (
	hmacName         = "hmac"
	alertmanagerName = "alertmanager"
)

// Providers is the table of all providers by their names in the config.
var Providers = map[string]Make{
	"github":            newGitHub,
	"gitlab":            newGitLab,
	"gitlab-signed":     newGitLabSigned,
	"gitea":             newGitea,
	"forgejo":           newForgejo,
	"bitbucket":         newBitbucket,
	"bitbucket-server":  newBitbucketServer,
	hmacName:            newHMAC,
	"standard-webhooks": newStandardWebhooks,
	alertmanagerName:    newAlertmanager,
	"bearer":            newBearer,
}
