// Package watch follows the Workflows and pods of the runs. Every replica
// copies the proof of an interruption to its Workflow within the last seconds
// of its pod; one of them, which holds the Lease, sends the events.
package watch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/once"
	"github.com/runhook/runhook/pkg/owner"
)

// Options are what a watch is made of.
type Options struct {
	Clients *Clients
	Nodes   Nodes
	// Annotator writes the evidence.
	Annotator evidence.Annotator
	// Helping gives split tasks their helpers, Shutdown takes them back.
	Helping  Helping
	Shutdown Shutdown
	// Leases are deleted that nobody has touched for as long as OnceKeep.
	Leases   once.Leases
	OnceKeep time.Duration
	// Identity tells the replicas apart.
	Identity string
	// Source is the source of the events.
	Source   string
	Foreign  owner.Foreign
	Capacity capacity.Settings
	Sinks    []Sink
	Stream   Stream
	// Metrics is made before the watch; it is filled by States.
	Metrics *metrics.Watch
	Log     *slog.Logger
}

// Watch is one replica.
type Watch struct {
	Options
	sources *sources
	proofs  *proofs
	tracker *tracker
	runs    *turns
	helpers *turns
	leads   atomic.Bool

	lock    sync.Mutex
	arrived map[string]time.Time // when the first change came that was not looked at yet
}

// New makes a watch that does not run yet.
func New(o Options) (*Watch, error) {
	w := &Watch{Options: o, proofs: &proofs{}, arrived: map[string]time.Time{}}
	var err error
	if w.sources, err = o.Clients.sources(trimWorkflow(time.Now)); err != nil {
		return nil, err
	}
	w.runs, w.helpers = newTurns(w.lookAtRun, o.Log), newTurns(w.lookAtHelpers, o.Log)
	w.tracker = newTracker(parts{
		cache: w.sources, proofs: w.proofs, releaser: releaser{o.Nodes, o.Capacity, o.Log},
		keeper: keeper{o.Annotator, o.Metrics.EvidenceDropped}, metrics: o.Metrics,
		sinks: o.Sinks, stream: o.Stream, source: o.Source, foreign: o.Foreign, log: o.Log, now: time.Now,
		again: w.runs.addAfter,
	})
	return w, w.handle()
}

// States gives the runs for the gauges: none, where another replica leads.
func (w *Watch) States() []metrics.RunState { return w.tracker.states() }

// handle says what each change leads to. A pod's proof is noted in its handler:
// the cache may hold another pod of the same name when its turn comes.
func (w *Watch) handle() error {
	_, err := w.sources.workflows.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, first bool) {
			if added, ok := object.(*workflow); ok {
				if first {
					w.tracker.inherit(added.Name)
				}
				w.workflowChanged(added)
			}
		},
		UpdateFunc: func(_, object any) {
			if changed, ok := object.(*workflow); ok {
				w.workflowChanged(changed)
			}
		},
		DeleteFunc: func(object any) {
			if deleted, ok := last(object).(*workflow); ok {
				w.tracker.lose(deleted)
				w.changed(deleted.Name)
			}
		},
	})
	if err != nil {
		return err
	}
	seen := func(object any) {
		if pod, ok := last(object).(*corev1.Pod); ok {
			w.proofs.see(pod)
			w.changed(pod.Labels[cause.WorkflowLabel])
		}
	}
	_, err = w.sources.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) }, DeleteFunc: seen,
	})
	if err != nil {
		return err
	}
	_, err = w.sources.queues.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		if queue, ok := object.(*metav1.PartialObjectMetadata); ok {
			w.Metrics.AddQueue(queue.Name)
		}
	}})
	return err
}

// last is the last known state of an object that may have been deleted unseen.
func last(object any) any {
	if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return unseen.Obj
	}
	return object
}

func (w *Watch) workflowChanged(to *workflow) {
	w.changed(to.Name)
	if run := helpedRun(to); run != "" {
		w.helpers.add(run)
	}
}

func (w *Watch) changed(name string) {
	w.lock.Lock()
	if _, waits := w.arrived[name]; !waits {
		w.arrived[name] = time.Now()
	}
	w.lock.Unlock()
	w.runs.add(name)
}

// Present gives what the state of the runs that go on, or have ended a short
// while ago, implies.
func (w *Watch) Present() []stream.Item { return w.tracker.present() }

// Start fills the caches, which are kept up until the second context ends: the
// watch is ready when it returns.
func (w *Watch) Start(ctx, informers context.Context) error {
	for _, source := range []cache.SharedIndexInformer{w.sources.workflows, w.sources.pods, w.sources.queues} {
		go source.RunWithContext(informers)
	}
	if !cache.WaitForCacheSync(ctx.Done(), w.sources.workflows.HasSynced, w.sources.pods.HasSynced) {
		return fault.New(fault.Unavailable, "the runs cannot be listed")
	}
	return nil
}

// Run works until the context ends: then it ends after what it looks at,
// flushes by flush, and gives the Lease back, in that order, so that the next
// leader comes when nothing is under way.
func (w *Watch) Run(ctx context.Context, flush func()) error {
	var workers sync.WaitGroup
	w.runs.work(ctx, limits.Watchers, &workers)
	w.helpers.work(ctx, 1, &workers)
	election, giveBack := context.WithCancel(context.Background())
	defer giveBack()
	elected := make(chan error, 1)
	go func() { elected <- w.Clients.elect(election, w.Identity, w.lead, w.follow) }()
	select {
	case <-ctx.Done():
	case err := <-elected:
		return err
	}
	w.runs.queue.ShutDown()
	w.helpers.queue.ShutDown()
	workers.Wait()
	flush()
	giveBack()
	return <-elected
}

func (w *Watch) lead(ctx context.Context) {
	w.Log.Info("this replica leads: it sends the events")
	w.leads.Store(true)
	w.tracker.lead(true)
	for _, there := range w.sources.Workflows() {
		if run := helpedRun(there); run != "" {
			w.helpers.add(run)
		}
	}
	w.tracker.tidy(ctx)
	w.forget(ctx)
}

func (w *Watch) follow() {
	w.Log.Info("this replica does not lead")
	w.leads.Store(false)
	w.tracker.lead(false)
}

func (w *Watch) lookAtRun(ctx context.Context, name string) error {
	w.lock.Lock()
	arrived, came := w.arrived[name]
	delete(w.arrived, name)
	w.lock.Unlock()
	err := w.tracker.sync(ctx, name)
	if err == nil && came {
		w.Metrics.Lag(time.Since(arrived))
	}
	return err
}

func (w *Watch) lookAtHelpers(ctx context.Context, run string) error {
	if !w.leads.Load() {
		return nil
	}
	return helpers{w.sources, w.Helping, w.Shutdown, w.Log}.look(ctx, run)
}
