package watch

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	framework "k8s.io/client-go/tools/cache/testing"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
)

// eventually waits for a condition; the test's own time limit ends it.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for !condition() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never came true")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// process is one `runhook watch` on a cluster of fakes.
type process struct {
	*Watch
	sink    *sent
	flushed int
	end     context.CancelFunc
	ended   chan error
}

func startProcess(t *testing.T, clients *Clients, identity string) *process {
	t.Helper()
	p := &process{sink: &sent{}, ended: make(chan error, 1)}
	counted := metrics.NewWatch(metrics.New("test", nil, nil), event.Types(), func() []metrics.RunState { return p.States() })
	var err error
	p.Watch, err = New(Options{
		Clients: clients, Nodes: newWorld(), Helping: newWorld(), Shutdown: newWorld(), Leases: newWorld(), OnceKeep: time.Hour, Identity: identity, Source: "/namespaces/argo", Foreign: owner.ForeignRead,
		Capacity: capacity.Settings{Reservation: reservation}, Sinks: []Sink{p.sink}, Stream: &sent{}, Metrics: counted,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, p.end = context.WithCancel(t.Context())
	go func() { p.ended <- p.Run(ctx, func() { p.flushed++ }) }()
	return p
}

func (p *process) leads() bool {
	p.tracker.lock.Lock()
	defer p.tracker.lock.Unlock()
	return p.tracker.leads
}

func (p *process) sentIDs() []string { return p.sink.ids() }

// Two replicas, one Lease: one sends. It is told to end, flushes, gives the
// Lease back, and the other sends the rest and the last minutes again.
func TestTheLeaseGoesOn(t *testing.T) {
	// Each replica has a source of its own, as each decodes for itself.
	sources := []*framework.FakeControllerSource{framework.NewFakeControllerSource(), framework.NewFakeControllerSource()}
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	clients := Clients{
		kube: fake.NewClientset(), namespace: "argo",
		metadata: metadatafake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "LocalQueue"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "argo", Name: "research"},
		}),
	}
	on := func(source *framework.FakeControllerSource) *Clients {
		own := clients
		own.workflows = source
		return &own
	}
	recorded := recording(t, "preempt-retry-always")
	first := startProcess(t, on(sources[0]), "first")
	eventually(t, first.leads)
	second := startProcess(t, on(sources[1]), "second")

	for _, source := range sources {
		source.Add(lately(t, recorded, "05-after-gone-wf.json"))
	}
	eventually(t, func() bool { return len(first.sentIDs()) == 4 })
	before := first.sentIDs()
	if got := second.sentIDs(); len(got) > 0 || second.leads() {
		t.Errorf("the second replica sent %v", got)
	}
	first.end()
	if err := <-first.ended; err != nil || first.flushed != 1 {
		t.Errorf("the first ended with %v and flushed %d times", err, first.flushed)
	}
	eventually(t, second.leads)
	eventually(t, func() bool { return len(second.sentIDs()) == len(before) })
	if again := second.sentIDs(); !slices.Equal(again, before) {
		t.Errorf("sent again %v, before %v", again, before)
	}
	sources[1].Modify(lately(t, recorded, "07-after-wf.json"))
	eventually(t, func() bool { return len(second.sentIDs()) == len(before)+len(atTheEnd) })
	if got := first.sentIDs(); len(got) != len(before) {
		t.Errorf("the first sent %d after its end", len(got)-len(before))
	}
	second.end()
	if err := <-second.ended; err != nil {
		t.Error(err)
	}
	// The beginning of a term is told late, on a busy machine after its end.
	over, end := context.WithCancel(t.Context())
	end()
	if second.lead(over); second.leads() {
		t.Error("it leads after its end")
	}
}

// lately is a recorded Workflow, moved to now.
func lately(t *testing.T, m moments, file string) *workflow {
	t.Helper()
	w := m.workflow(t, file, low)
	shift := time.Since(w.state().Status.StartedAt) - time.Minute
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(shift)
		}
	}
	move(&w.state().Status.StartedAt)
	move(&w.state().Status.FinishedAt)
	for _, n := range w.state().Status.Nodes {
		move(&n.StartedAt)
		move(&n.FinishedAt)
	}
	return w
}
