package watch

import (
	"context"
	"time"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
)

// tell sends what is new in a state.
func (t *tracker) tell(ctx context.Context, w *workflow, state *status.Workflow, events []event.Event) error {
	t.lock.Lock()
	before := t.runs[w.Name]
	inherited, resend, leads := t.inherited[w.Name], t.resend[w.Name], t.leads
	delete(t.inherited, w.Name)
	delete(t.resend, w.Name)
	if before != nil && before.uid != string(w.UID) {
		before, inherited = nil, false
	}
	now := remember(w, state, events)
	now.released = before != nil && before.released
	t.runs[w.Name] = now
	t.lock.Unlock()

	var fresh []event.Event
	if before != nil || !inherited {
		fresh = news(before, events)
	}
	t.stream.Publish(fresh, ownership(w))
	if now.ended && (before == nil || !before.ended) {
		t.again(w.Name, limits.EventReplay+time.Second) // to forget it
	}
	if !leads {
		t.outdate(fresh)
		return nil
	}
	t.count(w.queue, fresh, events)
	if resend {
		fresh = recent(events, now.ended, t.now())
	}
	t.send(fresh)
	if !now.ended || now.released {
		return nil
	}
	if err := t.releaser.releaseRun(ctx, w.Name); err != nil {
		return err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	now.released = true
	return nil
}

// deleted tells of a Workflow that is no more.
func (t *tracker) deleted(ctx context.Context, w *workflow) {
	t.proofs.take(string(w.UID))
	t.lock.Lock()
	leads := t.leads
	if r := t.runs[w.Name]; r != nil && r.uid == string(w.UID) {
		delete(t.runs, w.Name)
	}
	t.lock.Unlock()
	if !t.concerns(w) || w.fault != nil {
		return
	}
	events := event.Deleted(w.state(), t.source)
	t.stream.Publish(events, ownership(w))
	if !leads {
		t.outdate(events)
	} else {
		t.count(w.queue, events, events)
		t.send(events)
		if err := t.releaser.releaseRun(ctx, w.Name); err != nil {
			t.log.Warn("nodes may stay reserved for a run that was deleted", "run", w.Name, "error", err.Error())
		}
	}
}
