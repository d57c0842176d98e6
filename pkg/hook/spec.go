// Package hook turns deliveries of other systems into calls of functions: it
// verifies the raw bytes, decodes them to events, and matches these with the
// routes of the config. All of it is pure; who calls the functions is the
// caller's affair.
package hook

import (
	"github.com/runhook/runhook/pkg/secret"
)

// Spec is one entry of `hooks` in the config: an endpoint POST /hooks/<path>.
type Spec struct {
	// Path is the endpoint's name: a DNS label.
	Path string `json:"path"`
	// Provider says whose rules verify and decode; see Providers.
	Provider string `json:"provider"`
	// Secret verifies deliveries; Secrets are several during a rotation.
	Secret  *secret.Ref  `json:"secret,omitempty"`
	Secrets []secret.Ref `json:"secrets,omitempty"`
	// Header, Algorithm and DeliveryHeader belong to provider hmac: where the
	// signature stands, sha256 (default) or sha512, where the delivery's id stands.
	Header         string `json:"header,omitempty"`
	Algorithm      string `json:"algorithm,omitempty"`
	DeliveryHeader string `json:"deliveryHeader,omitempty"`
	// Routes are tried each on its own: one delivery may call several functions.
	Routes []RouteSpec `json:"routes"`
}

// RouteSpec is one route of a hook: which events lead to which function.
type RouteSpec struct {
	Name string `json:"name"`
	// Events are types (push, tag, ping, alert, other) or the host's event names.
	Events []string `json:"events,omitempty"`
	// Branches, Tags and Paths are doublestar globs; `!` excludes, the last match decides.
	Branches []string `json:"branches,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	// IgnoreSenders are accounts whose events are ignored, so that a robot's
	// own push starts nothing.
	IgnoreSenders []string `json:"ignoreSenders,omitempty"`
	// When is a CEL condition over event and payload.
	When string `json:"when,omitempty"`
	// Supersede stops older runs of the same route and ref after the new one exists.
	Supersede bool `json:"supersede,omitempty"`
	// Select turns an alert into the runs it is about.
	Select *SelectSpec `json:"select,omitempty"`
	// Function is called with Request, laid over by Set: request path ← CEL.
	Function string            `json:"function"`
	Request  map[string]any    `json:"request,omitempty"`
	Set      map[string]string `json:"set,omitempty"`
	// SkipCI obeys `[skip ci]` in a commit message; default true.
	SkipCI *bool `json:"skipCI,omitempty"`
	// Suspended keeps the route but ignores its events.
	Suspended bool `json:"suspended,omitempty"`
}

// SelectSpec chooses the runs that an alert is about.
type SelectSpec struct {
	Phase Text `json:"phase"`
	Queue Text `json:"queue,omitempty"`
	// Limit is how many runs at most, longest in the phase first; default 1.
	Limit int `json:"limit,omitempty"`
}
