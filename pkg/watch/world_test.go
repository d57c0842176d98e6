package watch

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// world is a cluster for trackers: its Workflows and pods, what was written to
// them, and its nodes.
type world struct {
	lock      sync.Mutex
	workflows map[string]*workflow
	pods      map[string][]corev1.Pod
	nodes     map[string]*corev1.Node
	conflicts int // how many writes fail because somebody was faster
	away      bool
	writes    int
}

func newWorld() *world {
	return &world{workflows: map[string]*workflow{}, pods: map[string][]corev1.Pod{}, nodes: map[string]*corev1.Node{}}
}

func (w *world) Workflow(name string) *workflow { return w.workflows[name] }

func (w *world) Workflows() []*workflow { return slices.Collect(maps.Values(w.workflows)) }

func (w *world) Helpers(run string) []*workflow {
	return slices.DeleteFunc(w.Workflows(), func(w *workflow) bool { return w.Labels[argo.ExtraOfLabel] != run })
}

func (w *world) Pods(name string) []corev1.Pod { return w.pods[name] }

func (w *world) WorkflowMetadata(_ context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	is, ok := w.workflows[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "no %s", name)
	}
	m := is.ObjectMeta
	m.Annotations = is.state().Metadata.Annotations
	return &metav1.PartialObjectMetadata{ObjectMeta: m}, nil
}

// Annotate writes as the API server does: under the version that was read.
func (w *world) Annotate(_ context.Context, name, version, key, value string) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	is, ok := w.workflows[name]
	switch {
	case w.away:
		return fault.New(fault.Unavailable, "away")
	case !ok:
		return fault.New(fault.NotFound, "no %s", name)
	case w.conflicts > 0:
		w.conflicts--
		is.ResourceVersion += "0"
		return fault.New(fault.Conflict, "changed")
	case is.ResourceVersion != version:
		return fault.New(fault.Conflict, "changed")
	}
	w.writes++
	changed := *is
	state := *is.state()
	changed.ResourceVersion += "1"
	state.Metadata.Annotations = maps.Clone(state.Metadata.Annotations)
	if state.Metadata.Annotations == nil {
		state.Metadata.Annotations = map[string]string{}
	}
	state.Metadata.Annotations[key] = value
	state.Metadata.ResourceVersion = changed.ResourceVersion
	changed.held = &atomic.Pointer[status.Workflow]{}
	changed.held.Store(&state)
	w.workflows[name] = &changed
	return nil
}

func (w *world) EachNode(_ context.Context, selector string, visit func(*corev1.Node)) error {
	if w.away {
		return fault.New(fault.Unavailable, "away")
	}
	key, value, _ := strings.Cut(selector, "=")
	for _, node := range w.nodes {
		if is, ok := node.Labels[key]; ok && (value == "" || is == value) {
			visit(node.DeepCopy())
		}
	}
	return nil
}

func (w *world) ChangeNode(_ context.Context, name string, change func(*corev1.Node) (bool, error)) error {
	_, err := change(w.nodes[name])
	return err
}

func (w *world) EachLease(context.Context, string, func(*coordinationv1.Lease)) error { return nil }

func (w *world) DeleteLease(context.Context, *coordinationv1.Lease) error { return nil }

// sent is a sink and a stream that remembers.
type sent struct {
	lock     sync.Mutex
	events   []event.Event
	outdated []string // the types of what another sends
}

func (s *sent) Outdate(e event.Event) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.outdated = append(s.outdated, e.Type())
}

func (s *sent) Send(e event.Event) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.events = append(s.events, e)
}

func (s *sent) Publish(events []event.Event, _ owner.Run) {
	for _, e := range events {
		s.Send(e)
	}
}

// types lists what was sent since the last look.
func (s *sent) types() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var all []string
	for _, e := range s.events {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(e.Type(), "runhook."), ".v1"))
	}
	s.events = nil
	return all
}

func (s *sent) ids() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var all []string
	for _, e := range s.events {
		all = append(all, e.ID())
	}
	return all
}

// replica is one tracker with what it sends.
type replica struct {
	*tracker
	sink, stream *sent
	metrics      *metrics.Metrics
}

const reservation = "simrun/reserved"

func newReplica(on *world, now time.Time) *replica {
	r := &replica{sink: &sent{}, stream: &sent{}, metrics: metrics.New("test", nil, nil)}
	counted := metrics.NewWatch(r.metrics, event.Types(), func() []metrics.RunState { return r.states() })
	counted.AddQueue("research")
	log := slog.New(slog.DiscardHandler)
	r.tracker = newTracker(parts{
		cache: on, proofs: &proofs{}, releaser: releaser{on, capacity.Settings{Reservation: reservation}, log},
		keeper: keeper{on, counted.EvidenceDropped}, metrics: counted, outlets: outlets{[]Sink{r.sink}, r.stream},
		source: "/namespaces/argo", foreign: owner.ForeignRead, log: log,
		now: func() time.Time { return now }, again: func(string, time.Duration) {},
	})
	return r
}

// look is one turn of a replica at a Workflow.
func (r *replica) look(t *testing.T, name string) {
	t.Helper()
	if err := r.sync(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

const low = "preempt-retry-always-lo"

// during is a moment of the recorded preemption.
var during = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// play shows a replica the recorded moments of a preemption, one by one.
func (w *world) show(t *testing.T, moment string, replicas ...*replica) {
	t.Helper()
	m := recording(t, "preempt-retry-always")
	kept := w.workflows[low]
	w.workflows[low] = m.workflow(t, moment+"-wf.json", low)
	if kept != nil { // what a watch has written stays
		annotate(w.workflows[low], kept.state().Metadata.Annotations[cause.Annotation])
	}
	w.pods[low] = m.pods(t, moment+"-pods.json", low)
	for _, r := range replicas {
		for i := range w.pods[low] {
			r.proofs.see(&w.pods[low][i])
		}
	}
}
