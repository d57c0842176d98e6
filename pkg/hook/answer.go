package hook

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/runhook/runhook/pkg/fault"
)

// Answer is the reply to a delivery.
type Answer struct {
	Status int `json:"-"` // HTTP status
	// RetryAfter goes with 503; 0: no opinion.
	RetryAfter time.Duration `json:"-"`
	Events     []Event       `json:"events"`
	Decisions  []Result      `json:"decisions"`
	// TruncatedAlerts is how many alerts Alertmanager left out.
	TruncatedAlerts int `json:"truncatedAlerts,omitempty"`
}

// Result is what became of a decision: ignored, called or refused.
type Result struct {
	Event   int             `json:"event"`             // its number in events
	Route   string          `json:"route"`             // that looked at it
	Ignored Reason          `json:"ignored,omitempty"` // why the route ignored it
	Detail  string          `json:"detail,omitempty"`  // which expression failed, and why
	Call    string          `json:"call,omitempty"`    // the function that was called
	Request json.RawMessage `json:"request,omitempty"` // in replay only
	Run     string          `json:"run,omitempty"`     // that it made or found
	Created *bool           `json:"created,omitempty"` // false: the run was there
	URL     string          `json:"url,omitempty"`     // of the status of the run
	Error   *Refusal        `json:"error,omitempty"`
}

// Refusal is a function's error as an answer tells it.
type Refusal struct {
	Code   int    `json:"code"`
	Detail string `json:"detail"`

	kind  fault.Kind
	after time.Duration
}

// answer composes the reply; its status is for the host, which reads nothing
// else: 503 makes those retry that can.
func (h *Hook) answer(out Outcome, results []Result) Answer {
	a := Answer{Status: http.StatusOK, Events: out.Events, Decisions: results, TruncatedAlerts: out.Truncated}
	var first *Refusal
	later, succeeded := false, false
	for i := range results {
		switch refusal := results[i].Error; {
		case refusal == nil:
			succeeded = succeeded || results[i].Call != ""
		case refusal.kind.Retryable():
			later = true
			a.RetryAfter = max(a.RetryAfter, refusal.after)
		case first == nil:
			first = refusal
		}
	}
	switch {
	case later:
		a.Status = http.StatusServiceUnavailable
	case succeeded:
		a.Status = http.StatusAccepted
	case first != nil && h.kind == alertmanagerName:
		// It would drop the notification, and no retry helps.
	case first != nil:
		a.Status = first.Code
	}
	return a
}
