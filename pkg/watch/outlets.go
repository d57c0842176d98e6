package watch

import (
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/owner"
)

// Sink takes events. It does not block: what it cannot take it counts and logs.
type Sink interface {
	Send(event.Event)
	// Outdate tells of an event that the leader sends: what still waits here from
	// a term that is over must not come after it.
	Outdate(event.Event)
}

// Stream shows events to readers.
type Stream interface {
	Publish(events []event.Event, run owner.Run)
}

// outlets are where events go: the leader's to the sinks, each replica's to its stream.
type outlets struct {
	sinks  []Sink
	stream Stream
}

func (o outlets) send(events []event.Event) {
	for _, e := range events {
		for _, sink := range o.sinks {
			sink.Send(e)
		}
	}
}

func (o outlets) outdate(events []event.Event) {
	for _, e := range events {
		for _, sink := range o.sinks {
			sink.Outdate(e)
		}
	}
}
