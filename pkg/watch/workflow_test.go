package watch

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

// A list is read by client-go's own decoder. A Workflow that somebody broke
// must not hide the others.
func TestOneBrokenWorkflowHidesNoOther(t *testing.T) {
	list := `{"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowList", "metadata": {"resourceVersion": "7"}, "items": [
		{"metadata": {"name": "broken", "namespace": "runs", "uid": "1", "resourceVersion": "5"}, "status": {"compressedNodes": "not base64!"}},
		{"metadata": {"name": "good", "namespace": "runs", "uid": "2", "labels": {"a": "b"}, "annotations": {"c": "d"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
		 "spec": {"podMetadata": {"labels": {"kueue.x-k8s.io/queue-name": "research"}}}, "status": {"phase": "Running", "nodes": {"n": {"name": "good", "type": "Pod"}}}}]}`
	codecs := serializer.NewCodecFactory(workflowScheme()).WithoutConversion()
	info := codecs.SupportedMediaTypes()[0]
	object, _, err := codecs.DecoderToVersion(info.Serializer, workflowVersion).Decode([]byte(list), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, ok := object.(*workflowList)
	if !ok || len(read.Items) != 2 || read.ResourceVersion != "7" {
		t.Fatalf("read %T %+v", object, object)
	}
	broken, good := read.Items[0], read.Items[1]
	if broken.fault == nil || broken.Name != "broken" || broken.state().Metadata.UID != "1" {
		t.Errorf("the broken one: %+v, fault %v", broken.ObjectMeta, broken.fault)
	}
	if good.fault != nil || good.queue != "research" || good.Labels["a"] != "b" || good.Annotations["c"] != "d" || good.UID != "2" ||
		good.CreationTimestamp.Unix() != 1767323045 || good.state().Status.Nodes["n"].Type != "Pod" {
		t.Errorf("the good one: %+v %+v, fault %v", good.ObjectMeta, good.state(), good.fault)
	}
	same, ok := read.DeepCopyObject().(*workflowList)
	if !ok || len(same.Items) != 2 || same.Items[1].state() != good.state() {
		t.Error("a copy is not the same")
	}
}

// The smaller CRD of Argo lets anything stand in a spec and a status.
func TestASpecOfAnyShapeHidesNoOther(t *testing.T) {
	for _, broken := range []string{
		`"spec": "x"`, `"spec": []`, `"spec": {"podMetadata": "x"}`, `"spec": {"podMetadata": {"labels": []}}`,
		`"spec": {"podMetadata": {"labels": {"a": 5}}}`, `"status": "x"`, `"status": {"nodes": []}`,
	} {
		var read workflowList
		err := json.Unmarshal([]byte(`{"items": [{`+broken+`, "metadata": {"name": "broken", "uid": "1"}}, {"metadata": {"name": "good", "uid": "2"}}]}`), &read)
		if err != nil || len(read.Items) != 2 || read.Items[0].UID != "1" || read.Items[1].Name != "good" {
			t.Errorf("%s: %v, read %+v", broken, err, read.Items)
		}
	}
}

func TestTrimWorkflow(t *testing.T) {
	w := recording(t, "preempt-retry-always").workflow(t, "07-after-wf.json", low)
	annotate(w, "evidence")
	ended := w.state().Status.FinishedAt
	trim := func(now time.Time) *workflow {
		trimmed, err := trimWorkflow(func() time.Time { return now })(w)
		if err != nil {
			t.Fatal(err)
		}
		return trimmed.(*workflow)
	}
	if soon := trim(ended.Add(time.Minute)); len(soon.state().Status.Nodes) == 0 || soon.state().Metadata.Annotations[cause.Annotation] == "" {
		t.Error("a run that has just ended lost what is still to be sent")
	}
	read := w.state() // by somebody else, at the same time
	late := trim(ended.Add(time.Hour))
	if len(late.state().Status.Nodes) > 0 || late.state().Metadata.Annotations != nil || late.state().Spec.Templates != nil {
		t.Errorf("a run that ended long ago keeps %+v", late.state())
	}
	if phase := status.Of(late.state(), nil, nil).Phase; phase != status.Succeeded {
		t.Errorf("its phase is %s", phase)
	}
	if len(read.Status.Nodes) == 0 || read.Metadata.Annotations == nil {
		t.Error("what somebody reads was changed")
	}
}

// A pod shows after trimming what it showed before.
func TestTrimPodKeepsWhatIsRead(t *testing.T) {
	for _, name := range []string{"preempt-retry-always", "oom-retry", "gated", "imagepull", "taint", "sidecar", "node-lost-retry"} {
		for file, data := range recorded.Read(t, name) {
			pods, err := status.ReadPods(file, data)
			if err != nil {
				continue // a Workflow's file
			}
			for _, pod := range pods {
				slim, err := trimPod(&pod)
				if err != nil {
					t.Fatal(err)
				}
				trimmed := slim.(*corev1.Pod)
				before, worth := cause.Observe(&pod)
				after, still := cause.Observe(trimmed)
				if diff := cmp.Diff(before, after); diff != "" || worth != still {
					t.Errorf("%s %s: %t, %t:\n%s", name, file, worth, still, diff)
				}
				if diff := cmp.Diff(status.PodWaiting(&pod), status.PodWaiting(trimmed)); diff != "" {
					t.Errorf("%s %s waits otherwise:\n%s", name, file, diff)
				}
				if evidence.WorkflowUID(&pod) == "" || evidence.WorkflowUID(&pod) != evidence.WorkflowUID(trimmed) {
					t.Errorf("%s %s: the Workflow is %q", name, file, evidence.WorkflowUID(trimmed))
				}
			}
		}
	}
}

// Whatever the API server sends, an object of it is held or refused.
func FuzzWorkflow(f *testing.F) {
	f.Add([]byte(`{"metadata": {"name": "a"}, "spec": {"podMetadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}}, "status": {"nodes": {"n": null}}}`))
	f.Add([]byte(recorded.Read(f, "success-dag")["03-after-wf.json"]))
	f.Add([]byte(`{"metadata": {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "9"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &workflow{}
		if json.Unmarshal(data, w) != nil {
			return
		}
		if w.held == nil {
			t.Fatal("an object without a state")
		}
		if _, err := trimWorkflow(time.Now)(w); err != nil {
			t.Fatal(err)
		}
		w.DeepCopyObject()
	})
}
