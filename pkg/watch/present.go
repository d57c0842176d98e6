package watch

import (
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// settle forgets all of a run that ended long ago but what the gauges show.
func (t *tracker) settle(w *workflow) {
	now := remember(w, w.state(), nil)
	w.giveUp()
	now.state.Phase = status.Of(w.state(), nil, nil).Phase // nodes are not needed for it
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.inherited, w.Name)
	delete(t.resend, w.Name)
	t.runs[w.Name] = now
}

// states gives what the gauges show: nothing, where another replica leads.
func (t *tracker) states() []metrics.RunState {
	t.lock.Lock()
	defer t.lock.Unlock()
	if !t.leads {
		return nil
	}
	all := make([]metrics.RunState, 0, len(t.runs))
	for _, r := range t.runs {
		if !r.helper {
			all = append(all, r.state)
		}
	}
	return all
}

// present gives the events of all runs but those that ended long ago.
func (t *tracker) present() []stream.Item {
	var items []stream.Item
	for _, w := range t.cache.Workflows() {
		if !t.concerns(w) || w.fault != nil || settled(w.state(), t.now()) {
			continue
		}
		pods := evidence.PodsOf(t.cache.Pods(w.Name), string(w.UID))
		for _, e := range event.Of(w.state(), pods, t.source) {
			items = append(items, stream.Item{Event: e, Run: ownership(w)})
		}
	}
	return items
}

func ownership(w *workflow) owner.Run {
	return owner.Run{Labels: w.Labels, Annotations: w.state().Metadata.Annotations}
}
