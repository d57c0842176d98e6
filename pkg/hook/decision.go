package hook

import (
	"encoding/json"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
)

// submit is the function whose calls are runs.
const submit = "submit"

// Outcome is what a delivery comes to, before anything is done.
type Outcome struct {
	// Proven is false for an unsigned ping, which is answered but must not
	// count as a delivery of the hook's owner.
	Proven    bool
	Events    []Event
	Decisions []Decision
	// Truncated is how many alerts Alertmanager cut from the group.
	Truncated int
}

// Decision is what one route makes of one event: it is ignored, or a function
// is called.
type Decision struct {
	Event   int    // index in Events
	Route   string // the route's name
	Ignored Reason // empty: Call is called
	Detail  string // which expression failed, and why, with IgnoredMapping
	Call    string // the function
	// Request is the function's request; nil with Select, where RequestFor
	// makes one for each run.
	Request json.RawMessage
	// Key is equal for deliveries that must act once: for a push (route, host,
	// repo, ref, sha), for an alert (route, fingerprint, startsAt), else
	// (route, delivery).
	Key    string
	Origin *function.Origin
	// Select is set when the call is about runs that are to be found first.
	Select *Selection

	event   *Event
	payload object
	mapping *mapping
}

// RequestFor makes the request of a decision with Select about a run: its
// status, with its queue and priority, as JSON has it.
func (d *Decision) RequestFor(run map[string]any) (json.RawMessage, error) {
	v := newVars(d.event, d.payload)
	v["run"] = run
	return d.mapping.request(v)
}

// decide tries every route on every event.
func (h *Hook) decide(events []Event, payload object) []Decision {
	decisions := []Decision{}
	for i := range events {
		for j := range h.routes {
			d := h.routes[j].decide(&events[i], payload)
			d.Event = i
			decisions = append(decisions, d)
		}
	}
	return decisions
}

func (r *route) decide(e *Event, payload object) Decision {
	if reason := r.ignore(e); reason != "" {
		return Decision{Route: r.label, Ignored: reason}
	}
	v := newVars(e, payload)
	switch holds, err := r.condition(v); {
	case err != nil:
		return Decision{Route: r.label, Ignored: IgnoredMapping, Detail: detailOf(err)}
	case !holds:
		return Decision{Route: r.label, Ignored: IgnoredWhen}
	}
	d := Decision{
		Route: r.label, Call: r.function, Key: r.key(e), Origin: r.origin(e),
		event: e, payload: payload, mapping: &r.mapping,
	}
	var err error
	if r.selection != nil {
		d.Select, err = r.selection.selection(v)
	} else {
		d.Request, err = r.mapping.request(v)
	}
	if err != nil {
		return Decision{Route: r.label, Ignored: IgnoredMapping, Detail: detailOf(err)}
	}
	if r.function == submit && e.isPush() {
		d.Origin.RefLabel = run.RefLabel(r.name, e.Repo.Host, e.Repo.FullName, e.Ref)
		if e.SHA != "" {
			d.Origin.Name = run.PushName(e.Repo.FullName, e.SHA, d.Key)
		}
	}
	return d
}

// key guards that one push, alert or delivery acts once.
func (r *route) key(e *Event) string {
	switch {
	case e.isPush() && e.SHA != "":
		return run.Hash("push", r.name, e.Repo.Host, e.Repo.FullName, e.Ref, e.SHA)
	case e.Type == Alert:
		return run.Hash("alert", r.name, e.Fingerprint, e.StartsAt)
	default:
		return run.Hash("delivery", r.name, e.Delivery)
	}
}

func (r *route) origin(e *Event) *function.Origin {
	return &function.Origin{
		Route: r.name, Provider: e.Provider, Delivery: e.Delivery,
		Host: e.Repo.Host, Repo: e.Repo.FullName, CloneURL: e.Repo.CloneURL,
		Ref: e.Ref, SHA: e.SHA, Before: e.Before, Sender: e.Sender,
		Forced: e.Forced, Committed: e.Committed, Supersedes: r.supersede,
	}
}
