package hook

import (
	"github.com/runhook/runhook/pkg/fault"
)

// Hook is a compiled endpoint. It is never changed, and safe for use by many
// requests at once.
type Hook struct {
	path     string
	kind     string // the provider's name in the config
	provider Provider
	routes   []route
	memory   Memory
	runs     Runs
}

// route is a compiled route.
type route struct {
	name      string // "<hook path>/<route>": keys, callers and origins say both
	label     string // the route's own name
	events    map[string]bool
	branches  globs
	tags      globs
	allTags   bool // asked for tags by type, without naming any
	paths     globs
	senders   map[string]bool
	when      *expression
	skipCI    bool
	suspended bool
	supersede bool
	function  string
	mapping   mapping
	selection *selection
}

// Path is the hook's name in its URL.
func (h *Hook) Path() string { return h.path }

// Provider is the provider's name, as metrics label it.
func (h *Hook) Provider() string { return h.kind }

// RefusalStatus is the HTTP status for a delivery that is refused.
// Alertmanager drops a notification for ever on any 4xx, so that a rate must
// read as 503 there.
func (h *Hook) RefusalStatus(kind fault.Kind) int {
	if kind == fault.TooMany && h.kind == alertmanagerName {
		return fault.Unavailable.Status()
	}
	return kind.Status()
}
