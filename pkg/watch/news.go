package watch

import (
	"time"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/status"
)

// remember notes what a state gave.
func remember(w *workflow, state *status.Workflow, events []event.Event) *tracked {
	r := &tracked{
		uid: string(w.UID), ids: make(map[string]bool, len(events)), running: map[string]bool{},
		state: metrics.RunState{Queue: w.queue}, ended: !state.Status.FinishedAt.IsZero(),
		helper: w.Labels[argo.ExtraOfLabel] != "",
	}
	for _, e := range events {
		r.ids[e.ID()] = true
		if e.Phase == status.Running {
			r.running[e.Subject()] = true
		}
		if e.AboutRun() {
			r.state.Phase, r.state.Since = e.Phase, e.Happened()
		}
		if e.EndOfAttempt() && e.Attempt.Cause == cause.Preempted {
			r.state.Preemptions++
		}
	}
	return r
}

// news gives the events that the state before did not give. What ran and runs
// may have another bringer, and is still the same to a reader.
func news(before *tracked, events []event.Event) []event.Event {
	if before == nil {
		return events
	}
	var fresh []event.Event
	for _, e := range events {
		still := e.Phase == status.Running && before.running[e.Subject()]
		if !still && !before.ids[e.ID()] {
			fresh = append(fresh, e)
		}
	}
	return fresh
}

// recent gives the events of the last minutes. Of what has no time and goes on
// nobody knows whether it was sent.
func recent(events []event.Event, ended bool, now time.Time) []event.Event {
	since := now.Add(-limits.EventReplay)
	var late []event.Event
	for _, e := range events {
		at := e.Happened()
		if at.IsZero() && !ended || !at.Before(since) {
			late = append(late, e)
		}
	}
	return late
}

// count counts what is new in a state.
func (t *tracker) count(queue string, fresh, all []event.Event) {
	for _, e := range fresh {
		switch {
		case e.AboutRun():
			t.metrics.Transition(queue, e.Phase)
		case e.Build != nil:
			t.metrics.Built(e.Build.Phase, took(*e.Build))
		case e.EndOfAttempt():
			t.metrics.AttemptEnded(queue, *e.Attempt)
		case e.Attempt != nil:
			if interrupted := lastEnd(all, e); interrupted != nil && interrupted.Cause.Interruption() && interrupted.Ended != nil {
				t.metrics.PreemptedWait(queue, t.now().Sub(*interrupted.Ended))
			}
		}
	}
}

// lastEnd finds the attempt of the same task that ended last, before one that
// has started.
func lastEnd(all []event.Event, started event.Event) *status.Attempt {
	var last *status.Attempt
	for _, e := range all {
		a := e.Attempt
		if !e.EndOfAttempt() || e.Subject() != started.Subject() || a.Ended == nil || a.UID == started.Attempt.UID && a.NodeID == started.Attempt.NodeID {
			continue
		}
		if last == nil || last.Ended.Before(*a.Ended) {
			last = a
		}
	}
	return last
}
