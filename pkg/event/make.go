package event

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/status"
)

// kind is the type of an event about a part of a run.
func kind(part, what string) string {
	return "runhook." + part + "." + strings.ToLower(what) + ".v1"
}

// add makes one event out of what is known of it. What its id is made of says
// what makes it this event, besides the Workflow's UID.
func (b *builder) add(kind, subject string, at *time.Time, data any, known Event, identity ...string) {
	b.events = append(b.events, made(b.source, kind, subject, at, data, known, append([]string{b.workflow.Metadata.UID}, identity...)...))
}

func made(source, kind, subject string, at *time.Time, data any, known Event, identity ...string) Event {
	e := event.New()
	e.SetID(identify(identity))
	e.SetSource(source)
	e.SetType(kind)
	e.SetSubject(subject)
	if at != nil {
		e.SetTime(*at)
	}
	encoded, _ := json.Marshal(data) // cannot fail on these types
	e.DataEncoded = encoded
	e.SetDataContentType(event.ApplicationJSON)
	known.Event = e
	return known
}

// idBytes is how much of the hash an id keeps: as much as a UUID has.
const idBytes = 16

func identify(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:idBytes])
}

// RunOf is the run that an event is about: what order is kept by.
func (e Event) RunOf() string {
	name, _, _ := strings.Cut(e.Subject(), "/")
	return name
}

// Happened is when it happened; the zero time when nobody knows.
func (e Event) Happened() time.Time { return e.Time() }

// Types lists the types of all events, so that metrics can be created at 0.
func Types() []string {
	var all []string
	for _, phase := range status.Phases {
		if phase != status.Skipped { // a run never is
			all = append(all, kind("run", string(phase)))
		}
		all = append(all, kind("task", string(phase)))
	}
	for _, phase := range image.Phases {
		all = append(all, kind("build", string(phase)))
	}
	return append(all, kind("attempt", "started"), kind("attempt", "ended"))
}

// AboutRun reports whether an event says a run's phase.
func (e Event) AboutRun() bool { return e.Run != nil }

// EndOfAttempt reports whether an event says that an attempt has ended.
func (e Event) EndOfAttempt() bool { return e.Attempt != nil && e.Attempt.Phase.Ended() }
