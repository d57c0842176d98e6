//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/functions/record"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
)

// TestWhatASensorSawIsKept calls record as a Sensor does: of a pod that is being
// evicted, and when it is gone. A finalizer of the test holds the pod until it
// was asked.
func TestWhatASensorSawIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := unique(t)
	stream := s.follow(run)
	s.submit(map[string]any{"id": run, "queue": "research", "tasks": []any{
		task("fit", hold, cpu("50m"), map[string]any{"retry": map[string]any{"backoff": "1s"}}),
	}})
	pod := s.runningPod(run, "fit")
	s.finalizers(pod.Name, `["runhook.test/hold"]`)
	must(s, s.kube.PolicyV1().Evictions(namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: namespace}}))
	dying, err := s.kube.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	must(s, err)
	saw := record.Request{Kind: "Pod", Namespace: namespace, Name: pod.Name, UID: string(pod.UID)}

	// Of one that is there the request needs to say nothing, and can say nothing wrong.
	s.recordTwice(saw)
	s.wantProof(run, saw.UID)
	other := saw
	other.UID = run
	s.wantRefused(other, http.StatusConflict, "")

	s.finalizers(pod.Name, "null")
	s.eventually("the pod is gone", func() error {
		_, err := s.kube.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %v", err)
	})
	s.runningPod(run, "fit") // the next attempt: Argo has written of the first one's end
	s.wantRefused(other, http.StatusConflict, "")
	saw.Conditions, saw.Deleted = dying.Status.Conditions, true
	at := slices.IndexFunc(saw.Conditions, cause.Proves)
	if at < 0 {
		t.Fatalf("the eviction left no condition: %v", saw.Conditions)
	}
	for _, outside := range []time.Duration{-time.Hour, time.Hour} {
		other := saw
		other.Conditions = slices.Clone(saw.Conditions)
		other.Conditions[at].LastTransitionTime = metav1.NewTime(pod.CreationTimestamp.Add(outside))
		s.wantRefused(other, http.StatusConflict, fmt.Sprintf("conditions[%d].lastTransitionTime", at))
	}
	stranger := saw
	stranger.Name, stranger.Deleted = run+"-task-fit-1", false
	s.wantRefused(stranger, http.StatusNotFound, "")
	stranger.Namespace = "default"
	s.wantRefused(stranger, http.StatusUnprocessableEntity, "namespace")

	// The watch has seen it too. What it wrote is taken away until it has seen
	// the last of the pod: then the Sensor is the only witness.
	var answers [2]record.Response
	s.eventually("the Sensor's word stands alone", func() error {
		_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Patch(t.Context(), run, types.MergePatchType,
			[]byte(`{"metadata": {"annotations": {"`+cause.Annotation+`": null}}}`), metav1.PatchOptions{})
		must(s, err)
		answers = s.recordTwice(saw)
		if entry := s.wantProof(run, saw.UID); entry.Source != cause.FromRecord {
			return fmt.Errorf("its source is %q", entry.Source)
		}
		return nil
	})
	attempts := s.status(run).Attempts["fit"]
	if len(attempts) != 1 || attempts[0].Cause != cause.Drained || !attempts[0].Interrupted {
		t.Errorf("the attempts are %+v", attempts)
	}
	if one, other := endOfAttempt(answers[0]), endOfAttempt(answers[1]); one != other {
		t.Errorf("two answers tell of the end as %s and %s", one, other)
	}
	// The watch tells of the same attempt under the same id, once.
	end := endOfAttempt(answers[0])
	s.eventually("the watch tells of the attempt's end", func() error {
		if told := stream.ended(); !slices.Equal(told, []string{end}) {
			return fmt.Errorf("it tells %v, want %s", told, end)
		}
		return nil
	})

	workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(t.Context(), run, metav1.GetOptions{})
	must(s, err)
	whole := record.Request{Kind: "Workflow", Namespace: namespace, Name: run, UID: string(workflow.UID)}
	if got := endOfAttempt(s.recordTwice(whole)[0]); got != end {
		t.Errorf("the Workflow tells of the end as %q, the pod as %q", got, end)
	}
	whole.UID = saw.UID
	s.wantRefused(whole, http.StatusConflict, "")
}

// finalizers sets what holds a pod.
func (s *site) finalizers(pod, finalizers string) {
	s.Helper()
	_, err := s.kube.CoreV1().Pods(namespace).Patch(s.Context(), pod, types.MergePatchType, []byte(`{"metadata": {"finalizers": `+finalizers+`}}`), metav1.PatchOptions{})
	must(s, err)
}

// recordTwice calls record twice at once: both answer.
func (s *site) recordTwice(request record.Request) (answers [2]record.Response) {
	s.Helper()
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() {
			got := s.call("sensor-token", "record", request)
			if got.code != http.StatusOK {
				s.Errorf("record answered %d %s", got.code, got.body)
				return
			}
			if err := json.Unmarshal(got.body, &answers[i]); err != nil {
				s.Error(err)
			}
		})
	}
	both.Wait()
	if s.Failed() {
		s.FailNow()
	}
	return answers
}

func (s *site) wantRefused(request record.Request, code int, path string) {
	s.Helper()
	got := s.call("sensor-token", "record", request)
	var problem struct{ Errors []fault.Problem }
	got.decode(s.T, &problem)
	if got.code != code || path != "" && (len(problem.Errors) != 1 || problem.Errors[0].Path != path) {
		s.Errorf("record of %+v answered %d %s, want %d %s", request, got.code, got.body, code, path)
	}
}

// wantProof gives what the annotation of a run says of a pod: its eviction.
func (s *site) wantProof(run, uid string) cause.Entry {
	s.Helper()
	workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
	must(s, err)
	known, err := cause.Decode(workflow.Annotations[cause.Annotation])
	must(s, err)
	for _, entry := range known.Entries() {
		if entry.UID == uid && len(entry.Conditions) == 1 && entry.Conditions[0].Reason == "EvictionByEvictionAPI" {
			return entry
		}
	}
	s.Fatalf("the evidence on %s is %+v", run, known.Entries())
	return cause.Entry{}
}

// ended lists the ids under which ends of attempts were told.
func (f *follower) ended() []string {
	var ids []string
	for _, e := range f.all() {
		if e.Type == "runhook.attempt.ended.v1" {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// endOfAttempt is the id under which an answer tells of the one attempt that ended.
func endOfAttempt(answer record.Response) string {
	for _, e := range answer.Events {
		if e.Type() == "runhook.attempt.ended.v1" {
			return e.ID()
		}
	}
	return ""
}
