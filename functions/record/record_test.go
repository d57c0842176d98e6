package record

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// The cases in which a pod was preempted and a new attempt followed, and in
// which Argo silently started a young node's pod again.
const (
	retried     = "preempt-retry-always"
	retriedRun  = retried + "-lo"
	retriedPod  = retriedRun + "-train-3673955854"
	retriedUID  = "5628da97-82fe-4d4b-8d41-5d3e1debf741"
	silent      = "preempt-recent"
	silentRun   = silent + "-lo"
	silentPod   = silentRun + "-train-702284002"
	silentUID   = "95fb0d2e-8f03-4e4b-b6b1-411373232f31"
	deletedRun  = "pod-deleted"
	deletedPod  = deletedRun + "-train-277238764"
	deletedUID  = "6b7cb04c-0000-4000-8000-000000000000"
	unknownUID  = "00000000-0000-4000-8000-000000000000"
	exitedRun   = "exit143-app"
	exitedPod   = exitedRun + "-train-3147621787"
	deletedTime = "09:27:03" // when Argo found the pod of pod-deleted gone
)

func podRequest(name, uid string, conditions []corev1.PodCondition) Request {
	return Request{Kind: "Pod", Namespace: "argo", Name: name, UID: uid, Conditions: conditions}
}

func refused(t *testing.T, err error, kind fault.Kind, path string) {
	t.Helper()
	got := fault.From(err)
	if got == nil || got.Kind != kind {
		t.Fatalf("got %v, want %s", err, kind)
	}
	if path != "" && (len(got.Problems) == 0 || got.Problems[0].Path != path) {
		t.Errorf("got %v, want a problem at %s", got.Problems, path)
	}
}

// causes are those of a Workflow's ended attempts, from its events.
func causes(events []event.Event) []cause.Cause {
	var all []cause.Cause
	for _, e := range events {
		if e.EndOfAttempt() {
			all = append(all, e.Attempt.Cause)
		}
	}
	return all
}

// What a Sensor says of a pod that is there is not needed, and not believed.
func TestAPodThatIsThereIsAskedItself(t *testing.T) {
	c := recorded(t, retried, "02-preempting")
	invented := []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: metav1.NewTime(at("09:22:10"))}}
	if _, _, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, retriedUID, invented)); err != nil {
		t.Fatal(err)
	}
	want := cause.Entry{
		UID: retriedUID, Node: retriedRun + "-3673955854", Pod: retriedPod, Host: c.pods[retriedPod].Spec.NodeName,
		Created: at("09:22:03"), Deleted: at("09:22:15"), Source: cause.FromRecord,
		Conditions: []cause.Condition{{Type: "TerminationTarget", Reason: "WorkloadEvictedDueToPreempted", At: at("09:22:15")}},
	}
	if diff := cmp.Diff([]cause.Entry{want}, c.evidence(t, retriedRun).Entries()); diff != "" {
		t.Error(diff)
	}
}

func TestAPodThatIsGoneIsBelievedWithinItsAttempt(t *testing.T) {
	c := recorded(t, retried, "04-pod-gone")
	for _, outside := range []string{"09:22:02", "09:22:18"} {
		_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, retriedUID, preempted(outside)))
		refused(t, err, fault.Conflict, "conditions[1].lastTransitionTime")
	}
	_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedRun+"-train-1", retriedUID, preempted("09:22:15")))
	refused(t, err, fault.NotFound, "")
	if c.writes > 0 {
		t.Fatal("what was refused was written")
	}

	_, response, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, retriedUID, preempted("09:22:15")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]cause.Cause{cause.Preempted}, causes(response.Events)); diff != "" {
		t.Error(diff)
	}
	entry := c.evidence(t, retriedRun).Entries()[0]
	if entry.Source != cause.FromRecord || len(entry.Conditions) != 1 || !entry.Conditions[0].At.Equal(at("09:22:15")) {
		t.Errorf("%+v", entry)
	}

	// Its word stands now, and another pod cannot have been it.
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, unknownUID, preempted("09:22:15")))
	refused(t, err, fault.Conflict, "")
	// Nor can it have been another.
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedRun+"-train-3069814475", retriedUID, nil))
	refused(t, err, fault.Conflict, "")
}

// A Sensor takes "there is no such run" for an answer, and comes again otherwise.
func TestWhileTheClusterIsAwayNothingIsRefused(t *testing.T) {
	c := recorded(t, retried, "04-pod-gone")
	c.away = true
	for _, request := range []Request{
		podRequest(retriedPod, retriedUID, preempted("09:22:15")), podRequest(retriedRun+"-train-3069814475", unknownUID, nil),
		{Kind: "Workflow", Namespace: "argo", Name: retriedRun, UID: "u"}, {Kind: "Workflow", Namespace: "argo", Name: retriedRun, UID: "u", Deleted: true},
	} {
		_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, request)
		refused(t, err, fault.Unavailable, "")
	}
}

// Whoever sees a preemption, a reader is told the same.
func TestIdsAreThoseOfTheWatch(t *testing.T) {
	c := recorded(t, retried, "02-preempting")
	dying := c.pods[retriedPod]
	seen := &cause.Evidence{}
	seen.Observe(&dying)
	text, err := seen.Encode()
	if err != nil {
		t.Fatal(err)
	}
	watched := recorded(t, retried, "07-after")
	if err := watched.Annotate(t.Context(), retriedRun, "0", cause.Annotation, text); err != nil {
		t.Fatal(err)
	}
	pods, _ := watched.Pods(t.Context(), map[string]string{cause.WorkflowLabel: retriedRun})
	var want []string
	for _, e := range event.Of(watched.state(t, retriedRun), pods, source) {
		want = append(want, e.ID())
	}

	c = recorded(t, retried, "07-after")
	about, _, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, retriedUID, preempted("09:22:15")))
	if err != nil {
		t.Fatal(err)
	}
	run := Request{Kind: "Workflow", Namespace: "argo", Name: retriedRun, UID: c.state(t, retriedRun).Metadata.UID}
	all, _, err := c.call(t.Context(), sensor, owner.ForeignRead, run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	for _, id := range about {
		if !slices.Contains(want, id) {
			t.Errorf("%s is none of the watch's", id)
		}
	}
	if len(about) == 0 || len(about) >= len(all) {
		t.Errorf("of %d events %d are about the pod", len(all), len(about))
	}
}

func TestTwoAtOnceWriteOnce(t *testing.T) {
	c := recorded(t, retried, "04-pod-gone")
	c.conflicts = 1 // and somebody else
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, _, err := c.call(t.Context(), sensor, owner.ForeignRead, podRequest(retriedPod, retriedUID, preempted("09:22:15"))); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if c.writes != 1 || len(c.evidence(t, retriedRun).Entries()) != 1 {
		t.Errorf("%d writes, %v", c.writes, c.evidence(t, retriedRun).Entries())
	}
}

// A pod of the name is there, and it is another: only the evidence can tell
// which ones were before it.
func TestAReplacedPod(t *testing.T) {
	c := recorded(t, silent, "03-preempting2")
	dying := podRequest(silentPod, silentUID, preempted("09:27:11"))
	_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, dying)
	refused(t, err, fault.Conflict, "")

	before := recorded(t, silent, "02-preempting")
	old := before.pods[silentPod]
	old.Status.Conditions = nil // the watch came too late for them
	seen := &cause.Evidence{}
	seen.Observe(&old)
	text, err := seen.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Annotate(t.Context(), silentRun, "0", cause.Annotation, text); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, podRequest(silentPod, silentUID, preempted("09:27:14"))) // the new one's time
	refused(t, err, fault.Conflict, "conditions[1].lastTransitionTime")
	_, response, err := c.call(t.Context(), sensor, owner.ForeignRead, dying)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]cause.Cause{cause.Preempted}, causes(response.Events)); diff != "" {
		t.Error(diff)
	}

	// The same once the new pod is known, and gone as well.
	there := podRequest(silentPod, string(c.pods[silentPod].UID), nil)
	if _, _, err := c.call(t.Context(), sensor, owner.ForeignRead, there); err != nil {
		t.Fatal(err)
	}
	delete(c.pods, silentPod)
	if _, _, err := c.call(t.Context(), sensor, owner.ForeignRead, dying); err != nil {
		t.Error(err)
	}
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, podRequest(silentPod, silentUID, preempted("09:27:14")))
	refused(t, err, fault.Conflict, "conditions[1].lastTransitionTime")
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, podRequest(silentPod, unknownUID, nil))
	refused(t, err, fault.Conflict, "")
}

func TestADeletionThatASensorSaw(t *testing.T) {
	for name, c := range map[string]struct {
		on      *cluster
		run     string
		request Request
		deleted string // empty: it says nothing of the end
		cause   cause.Cause
	}{
		"nobody else saw it":          {recorded(t, "pod-deleted", "05-after"), deletedRun, podRequest(deletedPod, deletedUID, nil), deletedTime, cause.Deleted},
		"Argo has not found out yet":  {recorded(t, "pod-deleted", "02-running"), deletedRun, podRequest(deletedPod, deletedUID, nil), "20:30:00", cause.None},
		"cleaned up after its end":    {recorded(t, "exit143-app", "02-after"), exitedRun, podRequest(exitedPod, unknownUID, nil), "", cause.Application},
		"the pod has a condition too": {recorded(t, retried, "04-pod-gone"), retriedRun, podRequest(retriedPod, retriedUID, preempted("09:22:15")), "09:22:17", cause.Preempted},
	} {
		t.Run(name, func(t *testing.T) {
			delete(c.on.pods, c.request.Name)
			c.request.Deleted = true
			_, response, err := c.on.call(t.Context(), sensor, owner.ForeignRead, c.request)
			if err != nil {
				t.Fatal(err)
			}
			entries := c.on.evidence(t, c.run).Entries()
			if (c.deleted == "") != (len(entries) == 0) || (len(entries) > 0 && !entries[0].Deleted.Equal(at(c.deleted))) {
				t.Errorf("the evidence is %+v", entries)
			}
			got := cause.None
			if all := causes(response.Events); len(all) > 0 {
				got = all[0]
			}
			if got != c.cause {
				t.Errorf("the cause is %q, want %q", got, c.cause)
			}
		})
	}
}

func TestWhatIsGoneOrAnotherNow(t *testing.T) {
	c := recorded(t, retried, "04-pod-gone")
	run := Request{Kind: "Workflow", Namespace: "argo", Name: retriedRun, UID: unknownUID}
	_, _, err := c.call(t.Context(), sensor, owner.ForeignRead, run)
	refused(t, err, fault.Conflict, "")
	run.Name = "nowhere"
	_, _, err = c.call(t.Context(), sensor, owner.ForeignRead, run)
	refused(t, err, fault.NotFound, "")
	for _, gone := range []Request{run, podRequest("nowhere-1", unknownUID, preempted("09:22:15"))} {
		gone.Deleted = true
		ids, _, err := c.call(t.Context(), sensor, owner.ForeignRead, gone)
		if err != nil || ids == nil || len(ids) > 0 {
			t.Errorf("%v, %v", ids, err)
		}
	}
}

// What a caller may not see is answered like what is not there.
func TestWhatACallerMayNotSee(t *testing.T) {
	c := recorded(t, retried, "02-preempting")
	pod := podRequest(retriedPod, retriedUID, nil)
	run := Request{Kind: "Workflow", Namespace: "argo", Name: retriedRun, UID: c.state(t, retriedRun).Metadata.UID}
	for _, request := range []Request{pod, run} {
		_, _, err := c.call(t.Context(), sensor, owner.ForeignNone, request)
		refused(t, err, fault.NotFound, "")
		_, _, err = c.call(t.Context(), function.Caller{Name: "own"}, owner.ForeignAll, request)
		refused(t, err, fault.NotFound, "")
	}
	c.workflows[retriedRun]["metadata"].(object)["labels"] = object{owner.RunLabel: retriedRun}
	c.workflows[retriedRun]["metadata"].(object)["annotations"] = object{owner.Annotation: "own"}
	for _, request := range []Request{pod, run} {
		if _, _, err := c.call(t.Context(), function.Caller{Name: "own"}, owner.ForeignNone, request); err != nil {
			t.Error(err)
		}
		_, _, err := c.call(t.Context(), function.Caller{Name: "other"}, owner.ForeignAll, request)
		refused(t, err, fault.NotFound, "")
	}
}

func TestAHelpersPod(t *testing.T) {
	c := recorded(t, retried, "02-preempting")
	c.workflows[retriedRun]["metadata"].(object)["labels"] = object{owner.RunLabel: "big", argo.ExtraOfLabel: "big", argo.TaskLabel: "fit", argo.ExtraLabel: "0"}
	_, response, err := c.call(t.Context(), sensor, owner.ForeignNone, podRequest(retriedPod, retriedUID, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range response.Events {
		if e.Subject() != "big/fit.fit-extra-0" {
			t.Errorf("%s of %s", e.Type(), e.Subject())
		}
	}
	if len(response.Events) == 0 || len(c.evidence(t, retriedRun).Entries()) != 1 {
		t.Errorf("%d events, %v", len(response.Events), c.evidence(t, retriedRun).Entries())
	}
}
