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

	"k8s.io/client-go/tools/cache"

	"github.com/runhook/runhook/pkg/capacity"
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
	builds  *builds
	// What has changed waits for its turn: runs, runs with helpers, Jobs that build.
	runs, helpers, jobs *turns
	leads               atomic.Bool
	// term keeps a term's end from being overtaken by its beginning, which is
	// told by a goroutine of its own.
	term sync.Mutex

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
	w.runs, w.helpers, w.jobs = newTurns(w.lookAtRun, o.Log), newTurns(w.lookAtHelpers, o.Log), newTurns(w.lookAtJob, o.Log)
	to := outlets{o.Sinks, o.Stream}
	w.builds = &builds{cache: w.sources, outlets: to, metrics: o.Metrics, source: o.Source, now: time.Now, again: w.jobs.add}
	w.tracker = newTracker(parts{
		cache: w.sources, proofs: w.proofs, releaser: releaser{o.Nodes, o.Capacity, o.Log},
		keeper: keeper{o.Annotator, o.Metrics.EvidenceDropped}, metrics: o.Metrics,
		outlets: to, source: o.Source, foreign: o.Foreign, log: o.Log, now: time.Now,
		again: w.runs.addAfter,
	})
	return w, w.handle()
}

// States gives the runs for the gauges: none, where another replica leads.
func (w *Watch) States() []metrics.RunState { return w.tracker.states() }

// Present gives what the state of the runs and builds that go on, or have ended
// a short while ago, implies.
func (w *Watch) Present() []stream.Item { return append(w.tracker.present(), w.builds.present()...) }

// Start fills the caches, which are kept up until the second context ends: the
// watch is ready when it returns.
func (w *Watch) Start(ctx, informers context.Context) error {
	for _, source := range w.sources.all() {
		go source.RunWithContext(informers)
	}
	if !cache.WaitForCacheSync(ctx.Done(), w.sources.workflows.HasSynced, w.sources.pods.HasSynced, w.sources.jobs.HasSynced, w.sources.buildPods.HasSynced) {
		return fault.New(fault.Unavailable, "the runs cannot be listed")
	}
	return nil
}

// Keeps is what a watch says when its caches are filled, and no proof passes it.
const Keeps = "this replica keeps proofs"

// Run works until the context ends: then it ends after what it looks at,
// flushes by flush, and gives the Lease back, in that order, so that the next
// leader comes when nothing is under way.
func (w *Watch) Run(ctx context.Context, flush func()) error {
	var workers sync.WaitGroup
	w.runs.work(ctx, limits.Watchers, &workers)
	w.helpers.work(ctx, 1, &workers)
	w.jobs.work(ctx, 1, &workers)
	w.Log.Info(Keeps)
	election, giveBack := context.WithCancel(context.Background())
	defer giveBack()
	elected := make(chan error, 1)
	go func() { elected <- w.Clients.elect(election, w.Identity, w.lead, w.follow) }()
	select {
	case <-ctx.Done():
	case err := <-elected:
		return err
	}
	for _, t := range []*turns{w.runs, w.helpers, w.jobs} {
		t.queue.ShutDown()
	}
	workers.Wait()
	flush()
	giveBack()
	return <-elected
}

func (w *Watch) lead(ctx context.Context) {
	if !w.begin(ctx) {
		return
	}
	for _, there := range w.sources.Workflows() {
		if run := helpedRun(there); run != "" {
			w.helpers.add(run)
		}
	}
	w.tracker.tidy(ctx)
	w.forget(ctx)
}

// begin begins a term, unless it has ended already.
func (w *Watch) begin(ctx context.Context) bool {
	w.term.Lock()
	defer w.term.Unlock()
	if ctx.Err() != nil {
		return false
	}
	w.Log.Info("this replica leads: it sends the events")
	w.leads.Store(true)
	w.tracker.lead(true)
	w.builds.lead(true)
	return true
}

func (w *Watch) follow() {
	w.term.Lock()
	defer w.term.Unlock()
	w.Log.Info("this replica does not lead")
	w.leads.Store(false)
	w.tracker.lead(false)
	w.builds.lead(false)
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

func (w *Watch) lookAtJob(ctx context.Context, name string) error { return w.builds.look(ctx, name) }
