package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cache gives what the cluster holds.
type Cache interface {
	Workflow(name string) *workflow // nil: there is none
	Workflows() []*workflow
	Helpers(run string) []*workflow
	Pods(workflow string) []corev1.Pod
}

// parts are what a tracker works with.
type parts struct {
	cache    Cache
	keeper   keeper
	proofs   *proofs
	releaser releaser
	outlets
	metrics *metrics.Watch
	source  string
	foreign owner.Foreign
	log     *slog.Logger
	now     func() time.Time
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
	// released is set when its nodes have been given back.
	released bool
}

func newTracker(p parts) *tracker {
	return &tracker{
		parts: p, runs: map[string]*tracked{}, inherited: map[string]bool{}, resend: map[string]bool{}, gone: map[string]*workflow{},
	}
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
	t.forget(name, w)
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
	pods := evidence.PodsOf(t.cache.Pods(name), string(w.UID))
	state, err := t.keep(ctx, w, pods)
	if err != nil {
		return err
	}
	return t.tell(ctx, w, state, event.Of(state, pods, t.source))
}

// forget gives up the proofs of a name that no Workflow takes: pods often go
// after theirs.
func (t *tracker) forget(name string, w *workflow) {
	takes := ""
	if w != nil && w.fault == nil && t.concerns(w) && !settled(w.state(), t.now()) {
		takes = string(w.UID)
	}
	if t.proofs.forget(name, takes, limits.EventReplay) {
		t.again(name, limits.EventReplay+time.Second)
	}
}

// concerns leaves Workflows of others out where the config wants so.
func (t *tracker) concerns(w *workflow) bool {
	return t.foreign != owner.ForeignNone || owner.Ours(w.Labels)
}

// keep writes what was seen and gives the Workflow with its evidence as it is
// then. The cache learns of it later.
func (t *tracker) keep(ctx context.Context, w *workflow, pods []corev1.Pod) (*status.Workflow, error) {
	seen := t.proofs.take(string(w.UID))
	state, err := t.keeper.keep(ctx, w.state(), seen, pods)
	if fault.KindOf(err) == fault.NotFound {
		return w.state(), nil // deleted meanwhile: its deletion is on its way
	}
	if err != nil {
		t.proofs.giveBack(string(w.UID), w.Name, seen)
	}
	return state, err
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
