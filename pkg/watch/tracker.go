package watch

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Sink takes events. It does not block: what it cannot take it counts and logs.
type Sink interface {
	Send(event.Event)
}

// Stream shows events to readers.
type Stream interface {
	Publish(events []event.Event, run owner.Run)
}

// Cache gives what the cluster holds.
type Cache interface {
	Workflow(name string) *workflow // nil: there is none
	Workflows() []*workflow
	Pods(workflow string) []corev1.Pod
}

// parts are what a tracker works with.
type parts struct {
	cache    Cache
	keeper   keeper
	proofs   *proofs
	releaser releaser
	shutdown Shutdown
	sinks    []Sink
	stream   Stream
	metrics  *metrics.Watch
	source   string
	foreign  owner.Foreign
	log      *slog.Logger
	now      func() time.Time
	// again asks to look at a Workflow later.
	again func(name string, after time.Duration)
}

// tracker turns changes into evidence and events. It remembers which events a
// state gave, so that the next state's are told apart; another replica computes
// the same from the same objects.
type tracker struct {
	parts

	lock sync.Mutex
	// leads is whether this replica sends.
	leads bool
	runs  map[string]*tracked // by name
	// inherited are Workflows that were there before the watch: what they
	// imply is no news.
	inherited map[string]bool
	// resend are those that a new leader sends again.
	resend map[string]bool
	gone   map[string]*workflow
}

// tracked is what is remembered of a Workflow.
type tracked struct {
	uid string
	// ids are the events that its last state gave, by id.
	ids map[string]bool
	// running are the subjects that ran in it.
	running map[string]bool
	state   metrics.RunState
	ended   bool
	helper  bool
	// released is set when its nodes have been given back and its helpers ended.
	released bool
}

func newTracker(p parts) *tracker {
	return &tracker{
		parts: p, runs: map[string]*tracked{}, inherited: map[string]bool{}, resend: map[string]bool{}, gone: map[string]*workflow{},
	}
}

// lead begins or ends a term. A new leader sends again what the last minutes
// imply: whoever led before may not have.
func (t *tracker) lead(leads bool) {
	t.lock.Lock()
	t.leads = leads
	t.resend = map[string]bool{}
	var names []string
	if leads {
		for _, w := range t.cache.Workflows() {
			names = append(names, w.Name)
			t.resend[w.Name] = true
		}
	}
	t.lock.Unlock()
	t.metrics.Leading(leads)
	for _, name := range names {
		t.again(name, 0)
	}
}

// tidy gives back the nodes of runs that ended while nobody led, and ends their
// helpers. A run that there is no Workflow of may not have been submitted yet.
func (t *tracker) tidy(ctx context.Context) {
	ended := func(run string) bool {
		w := t.cache.Workflow(run)
		return w != nil && !w.state().Status.FinishedAt.IsZero()
	}
	if err := t.releaser.release(ctx, t.releaser.capacity.Reservation, ended); err != nil {
		t.log.Warn("reservations of ended runs may be left", "error", err.Error())
	}
	if err := t.endHelpers(ctx, ended); err != nil {
		t.log.Warn("helpers of ended runs may be left", "error", err.Error())
	}
}

// inherit notes a Workflow of the first list.
func (t *tracker) inherit(name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.inherited[name] = true
}

// lose notes a Workflow that was deleted, in its last state.
func (t *tracker) lose(w *workflow) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.gone[w.Name] = w
}

// sync looks at a Workflow: its proofs are written first, since they are the
// only ones that cannot wait, and no event is sent that they could still change.
func (t *tracker) sync(ctx context.Context, name string) error {
	t.lock.Lock()
	gone := t.gone[name]
	delete(t.gone, name)
	t.lock.Unlock()
	if gone != nil {
		t.deleted(ctx, gone)
	}
	w := t.cache.Workflow(name)
	if w == nil || !t.concerns(w) {
		return nil
	}
	if w.fault != nil {
		t.log.Warn("a Workflow cannot be read", "run", name, "error", w.fault.Error())
		return nil
	}
	if settled(w.state(), t.now()) {
		t.settle(w)
		return nil
	}
	pods := ofWorkflow(t.cache.Pods(name), string(w.UID))
	state, err := t.keep(ctx, w, pods)
	if err != nil {
		return err
	}
	return t.tell(ctx, w, state, event.Of(state, pods, t.source))
}

// concerns leaves Workflows of others out where the config wants so.
func (t *tracker) concerns(w *workflow) bool {
	return t.foreign != owner.ForeignNone || owner.Ours(w.Labels)
}

// ofWorkflow leaves out the pods of another Workflow that had the name before.
func ofWorkflow(pods []corev1.Pod, uid string) []corev1.Pod {
	var own []corev1.Pod
	for _, pod := range pods {
		if workflowUID(&pod) == uid {
			own = append(own, pod)
		}
	}
	return own
}

// keep writes what was seen and gives the Workflow with its evidence as it is
// then. The cache learns of it later.
func (t *tracker) keep(ctx context.Context, w *workflow, pods []corev1.Pod) (*status.Workflow, error) {
	seen := t.proofs.take(string(w.UID))
	text, err := t.keeper.keep(ctx, w, seen, pods)
	if fault.KindOf(err) == fault.NotFound {
		return w.state(), nil // deleted meanwhile: its deletion is on its way
	}
	if err != nil {
		t.proofs.giveBack(string(w.UID), seen)
		return nil, err
	}
	if text == w.state().Metadata.Annotations[cause.Annotation] {
		return w.state(), nil
	}
	state := *w.state()
	state.Metadata.Annotations = maps.Clone(state.Metadata.Annotations)
	if state.Metadata.Annotations == nil {
		state.Metadata.Annotations = map[string]string{}
	}
	state.Metadata.Annotations[cause.Annotation] = text
	return &state, nil
}

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
		return nil
	}
	t.count(w.queue, fresh, events)
	if resend {
		fresh = recent(events, state, t.now())
	}
	t.send(fresh)
	if !now.ended || now.released {
		return nil
	}
	if err := t.releaser.releaseRun(ctx, w.Name); err != nil {
		return err
	}
	if err := t.endHelpers(ctx, func(run string) bool { return run == w.Name }); err != nil {
		return err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	now.released = true
	return nil
}

func (t *tracker) send(events []event.Event) {
	for _, e := range events {
		for _, sink := range t.sinks {
			sink.Send(e)
		}
	}
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
	if leads {
		t.count(w.queue, events, events)
		t.send(events)
		if err := t.releaser.releaseRun(ctx, w.Name); err != nil {
			t.log.Warn("nodes may stay reserved for a run that was deleted", "run", w.Name, "error", err.Error())
		}
	}
}

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
		pods := ofWorkflow(t.cache.Pods(w.Name), string(w.UID))
		for _, e := range event.Of(w.state(), pods, t.source) {
			items = append(items, stream.Item{Event: e, Run: ownership(w)})
		}
	}
	return items
}

func ownership(w *workflow) owner.Run {
	return owner.Run{Labels: w.Labels, Annotations: w.state().Metadata.Annotations}
}
