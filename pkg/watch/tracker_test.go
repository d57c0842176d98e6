package watch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
)

// atTheEnd is what the end of the recorded preemption adds: the second attempt
// of its first task, and its second task.
var atTheEnd = []string{
	"attempt.started", "attempt.ended", "attempt.started", "attempt.ended", "task.succeeded", "task.succeeded", "run.succeeded",
}

func TestAPreemptionFromBeginningToEnd(t *testing.T) {
	on := newWorld()
	on.show(t, "01-running")
	now := on.workflows[low].state().Status.StartedAt.Add(time.Minute)
	r := newReplica(on, now)
	r.lead(true)
	r.resend = map[string]bool{} // it is a new run
	steps := []struct {
		moment string
		want   []string
	}{
		{"01-running", []string{"attempt.started", "task.running", "run.running"}},
		{"02-preempting", nil},
		{"05-after-gone", []string{"attempt.ended", "task.preempted", "run.preempted"}},
		{"07-after", atTheEnd},
		{"07-after", nil},
	}
	for _, step := range steps {
		on.show(t, step.moment, r)
		r.look(t, low)
		sentNow := r.sink.types()
		if diff := cmp.Diff(step.want, sentNow); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.moment, diff)
		}
		if diff := cmp.Diff(step.want, r.stream.types()); diff != "" {
			t.Errorf("%s, the stream (-want +got):\n%s", step.moment, diff)
		}
	}
	want := map[string]float64{
		`runhook_attempts_ended_total{cause="preempted",queue="other"}`: 1,
		`runhook_attempts_ended_total{cause="none",queue="other"}`:      2,
		`runhook_transitions_total{phase="Running",queue="other"}`:      1,
		`runhook_transitions_total{phase="Preempted",queue="other"}`:    1,
		`runhook_transitions_total{phase="Succeeded",queue="other"}`:    1,
		`runhook_preempted_wait_seconds_count{queue="other"}`:           1,
		`runhook_runs{phase="Succeeded",queue="other"}`:                 1,
		`runhook_watch_leader`: 1,
	}
	if diff := cmp.Diff(want, counted(t, r.metrics)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// The proof is written while the pod still stands, by both replicas, once.
func TestTwoReplicasKeepOneProof(t *testing.T) {
	on := newWorld()
	on.show(t, "01-running")
	a, b := newReplica(on, during), newReplica(on, during)
	on.show(t, "02-preempting", a, b)
	on.conflicts = 2 // Argo writes too
	a.look(t, low)
	b.look(t, low)
	a.look(t, low)
	if on.writes != 1 {
		t.Errorf("%d writes, want 1", on.writes)
	}
	evidence, err := cause.Decode(on.workflows[low].state().Metadata.Annotations[cause.Annotation])
	if err != nil {
		t.Fatal(err)
	}
	entries := evidence.Entries()
	if len(entries) != 1 || len(entries[0].Conditions) == 0 || entries[0].Conditions[0].Reason != "WorkloadEvictedDueToPreempted" {
		t.Errorf("the evidence is %+v", entries)
	}
	if got := append(a.sink.types(), b.sink.types()...); got != nil {
		t.Errorf("nobody leads, and %v was sent", got)
	}
}

// While the API server is away the proof is kept here, even after the pod is
// gone, and no event is sent that would not know it.
func TestAProofOutlivesAnOutage(t *testing.T) {
	on := newWorld()
	on.show(t, "01-running")
	r := newReplica(on, on.workflows[low].state().Status.StartedAt)
	r.lead(true)
	r.look(t, low)
	r.sink.types()
	on.show(t, "02-preempting", r)
	on.away = true
	if err := r.sync(t.Context(), low); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("the outage reads %v", err)
	}
	on.show(t, "05-after-gone")
	on.pods[low] = nil
	if err := r.sync(t.Context(), low); err == nil || len(r.sink.ids()) > 0 {
		t.Errorf("%v, and sent %v: want nothing while the proof cannot be written", err, r.sink.types())
	}
	on.away = false
	r.look(t, low)
	for _, e := range r.sink.events {
		if e.EndOfAttempt() && e.Attempt.Cause != cause.Preempted {
			t.Errorf("the cause is %q", e.Attempt.Cause)
		}
	}
	if diff := cmp.Diff([]string{"attempt.ended", "task.preempted", "run.preempted"}, r.sink.types()); diff != "" {
		t.Error(diff)
	}
}

// A new leader sends again what the last minutes imply, with the same ids, and
// counts none of it; what it does not lead to any more is not sent.
func TestTakeover(t *testing.T) {
	on := newWorld()
	on.show(t, "01-running")
	now := on.workflows[low].state().Status.StartedAt.Add(2 * time.Minute)
	first, second := newReplica(on, now), newReplica(on, now)
	first.lead(true)
	for _, moment := range []string{"01-running", "02-preempting", "05-after-gone"} {
		on.show(t, moment, first, second)
		first.look(t, low)
		second.look(t, low)
	}
	before := first.sink.ids()
	if got := second.sink.types(); got != nil {
		t.Errorf("the second replica does not lead, and sent %v", got)
	}
	first.lead(false)
	second.lead(true)
	second.look(t, low)
	again := second.sink.ids()
	if len(again) == 0 {
		t.Error("nothing was sent again")
	}
	for _, id := range again {
		if !slices.Contains(before, id) {
			t.Errorf("%s was not sent before", id)
		}
	}
	if got := counted(t, second.metrics); len(got) != 2 { // the run that there is, and the leader
		t.Errorf("counted: %v", got)
	}
	second.sink.types()
	on.show(t, "07-after", first, second)
	first.look(t, low)
	second.look(t, low)
	if got := first.sink.ids(); len(got) != len(before) {
		t.Errorf("the old leader sent %d more", len(got)-len(before))
	}
	if got := first.sink.outdated; len(got) != len(atTheEnd) || got[len(got)-1] != "runhook.run.succeeded.v1" {
		t.Errorf("the old leader's sinks heard of %v", got)
	}
	if diff := cmp.Diff(atTheEnd, second.sink.types()); diff != "" {
		t.Error(diff)
	}
}

// What ended long ago is no news to a new leader, nor to a new watch.
func TestWhatEndedLongAgoIsNotSent(t *testing.T) {
	on := newWorld()
	on.show(t, "07-after")
	r := newReplica(on, on.workflows[low].state().Status.FinishedAt.Add(time.Hour))
	r.inherit(low)
	r.lead(true)
	r.look(t, low)
	if got := append(r.sink.types(), r.stream.types()...); got != nil {
		t.Errorf("sent %v", got)
	}
	if got := counted(t, r.metrics)[`runhook_runs{phase="Succeeded",queue="other"}`]; got != 1 {
		t.Errorf("runs that have succeeded: %g", got)
	}
}

func TestADeletedRun(t *testing.T) {
	on := newWorld()
	on.show(t, "05-after-gone")
	r, follower := newReplica(on, on.workflows[low].state().Status.StartedAt), newReplica(on, on.workflows[low].state().Status.StartedAt)
	r.lead(true)
	r.look(t, low)
	r.sink.types()
	r.lose(on.workflows[low])
	follower.lose(on.workflows[low])
	delete(on.workflows, low)
	r.look(t, low)
	r.look(t, low)
	follower.look(t, low)
	if got := follower.sink.outdated; len(got) != 1 || follower.sink.types() != nil {
		t.Errorf("one that does not lead heard of %v", got)
	}
	if diff := cmp.Diff([]string{"run.stopped"}, r.sink.types()); diff != "" {
		t.Error(diff)
	}
	if len(r.states()) != 0 {
		t.Error("it is still remembered")
	}
}

// Pods often go after their Workflow, and what they show then nobody takes: it
// is not remembered for ever, but for as long as its Workflow may still come.
func TestWhatNoWorkflowTakesIsForgotten(t *testing.T) {
	for name, change := range map[string]func(*world, *replica){
		"deleted":        func(on *world, _ *replica) { delete(on.workflows, low) },
		"replaced":       func(on *world, _ *replica) { on.workflows[low].UID = "another" },
		"ended long ago": func(_ *world, r *replica) { r.now = func() time.Time { return during.Add(100 * time.Hour) } },
		"of others":      func(_ *world, r *replica) { r.foreign = owner.ForeignNone },
		"unreadable":     func(on *world, _ *replica) { on.workflows[low].fault = fault.New(fault.Malformed, "broken") },
	} {
		synctest.Test(t, func(t *testing.T) {
			on := newWorld()
			on.show(t, "07-after")
			r := newReplica(on, during)
			asked := 0
			r.again = func(string, time.Duration) { asked++ }
			change(on, r)
			on.pods[low] = nil
			dying := recording(t, "preempt-retry-always").pods(t, "02-preempting-pods.json", low)
			for i := range dying {
				r.proofs.see(&dying[i])
			}
			r.look(t, low)
			if len(r.proofs.of) != 1 || asked != 1 {
				t.Errorf("%s: at once %d are left, asked again %d times", name, len(r.proofs.of), asked)
			}
			time.Sleep(limits.EventReplay + time.Second)
			r.look(t, low)
			if len(r.proofs.of) != 0 || asked != 1 {
				t.Errorf("%s: %d are remembered, asked again %d times", name, len(r.proofs.of), asked)
			}
		})
	}
}

func TestForeignWorkflows(t *testing.T) {
	on := newWorld()
	on.show(t, "01-running")
	r := newReplica(on, during)
	r.foreign = owner.ForeignNone
	r.lead(true)
	on.show(t, "02-preempting", r)
	r.look(t, low)
	if got := r.sink.types(); got != nil || on.writes > 0 {
		t.Errorf("sent %v, wrote %d times", got, on.writes)
	}
}

func TestReservationsOfEndedRuns(t *testing.T) {
	on := newWorld()
	settings := capacity.Settings{Reservation: reservation}
	for node, run := range map[string]string{"n1": low, "n2": "another", "n3": low} {
		on.nodes[node] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
		settings.Reserve(on.nodes[node], run)
	}
	reserved := func() map[string]string {
		is := map[string]string{}
		for name, node := range on.nodes {
			is[name] = settings.ReservedFor(node)
		}
		return is
	}
	on.show(t, "05-after-gone")
	r := newReplica(on, on.workflows[low].state().Status.StartedAt)
	r.lead(true)
	r.look(t, low)
	if diff := cmp.Diff(map[string]string{"n1": low, "n2": "another", "n3": low}, reserved()); diff != "" {
		t.Errorf("the run goes on: %s", diff)
	}
	on.show(t, "07-after")
	r.look(t, low)
	if diff := cmp.Diff(map[string]string{"n1": "", "n2": "another", "n3": ""}, reserved()); diff != "" {
		t.Errorf("the run has ended: %s", diff)
	}
	// It ended while nobody watched; another run of a node is not known yet.
	settings.Reserve(on.nodes["n1"], low)
	r.tidy(t.Context())
	if diff := cmp.Diff(map[string]string{"n1": "", "n2": "another", "n3": ""}, reserved()); diff != "" {
		t.Errorf("after a takeover: %s", diff)
	}
}
