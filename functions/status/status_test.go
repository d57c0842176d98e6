package status

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// cluster holds a run of the caller ci with one helper and a queued pod.
type cluster struct {
	lock    sync.Mutex
	run     string // the label runhook/run
	caller  string // whose it is, ci when empty
	version string
	away    bool
	asked   map[string]string
	watched []map[string]string // labels of Workflows and of pods
	watches int
	signals chan struct{}
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.away {
		return nil, fault.New(fault.Unavailable, "the cluster cannot be reached")
	}
	if name != "a" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return []byte(`{
		"metadata": {"name": "a", "resourceVersion": "` + c.version + `", "labels": {"runhook/run": "` + c.run + `"}, "annotations": {"runhook/caller": "` + cmp.Or(c.caller, "ci") + `"}},
		"spec": {"entrypoint": "run", "templates": [
			{"name": "run", "dag": {"tasks": [{"name": "fit", "template": "task-fit"}]}}, {"name": "task-fit"}]},
		"status": {"phase": "Running", "startedAt": "2026-01-01T00:00:00Z", "nodes": {
			"a": {"id": "a", "name": "a", "displayName": "a", "type": "DAG", "phase": "Running", "templateName": "run", "children": ["a-1"]},
			"a-1": {"id": "a-1", "name": "a.fit", "displayName": "fit", "type": "Pod", "phase": "Pending", "boundaryID": "a", "templateName": "task-fit"}}}}`), nil
}

func (c *cluster) Workflows(context.Context, map[string]string) ([]byte, error) {
	return []byte(`{"items": [{"metadata": {"name": "a-extra-fit-0", "labels": {
		"runhook/run": "a", "runhook/extra-of": "a", "runhook/task": "fit", "runhook/extra": "0"}},
		"status": {"phase": "Running", "startedAt": "2026-01-01T00:00:00Z"}}]}`), nil
}

func (c *cluster) Pods(_ context.Context, labels map[string]string) ([]corev1.Pod, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.asked = labels
	return []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a-task-fit-1", UID: "u",
			Labels:      map[string]string{"workflows.argoproj.io/workflow": "a"},
			Annotations: map[string]string{"workflows.argoproj.io/node-id": "a-1"},
		},
		Spec: corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}},
	}}, nil
}

func (c *cluster) WatchRun(_ context.Context, _ string, workflows, pods map[string]string) (<-chan struct{}, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.watches++
	c.watched = []map[string]string{workflows, pods}
	c.signals = make(chan struct{}, 1)
	return c.signals, nil
}

// change changes the run, and the watch says so.
func (c *cluster) change(how func()) {
	c.lock.Lock()
	defer c.lock.Unlock()
	how()
	c.signals <- struct{}{}
}

func call(on *cluster, caller function.Caller, body string) (status.Status, error) {
	got, err := New(on, Settings{Foreign: owner.ForeignRead, Time: time.Minute}).Handle(context.Background(), function.Call{Caller: caller, Body: json.RawMessage(body)})
	if err != nil {
		return status.Status{}, err
	}
	return got.Body.(status.Status), nil
}

func TestStatusJoinsRunHelpersAndPods(t *testing.T) {
	on := &cluster{run: "a"}
	got, err := call(on, function.Caller{Name: "ci"}, `{"run": "a"}`)
	if err != nil {
		t.Fatal(err)
	}
	fit := got.Tasks["fit"]
	if fit.Phase != status.Pending || fit.Waiting == nil || fit.Waiting.Reason != "queued" {
		t.Errorf("a gated pod reads %+v", fit)
	}
	if _, ok := got.Tasks["fit.fit-extra-0"]; !ok {
		t.Errorf("the helper is missing: %v", got.Tasks)
	}
	if !maps.Equal(on.asked, map[string]string{"runhook/run": "a"}) {
		t.Errorf("pods were asked for by %v", on.asked)
	}
}

func TestForeignWorkflowHasNoHelpers(t *testing.T) {
	on := &cluster{}
	got, err := call(on, function.Caller{AllRuns: true}, `{"run": "a"}`)
	if err != nil || len(got.Tasks) != 1 {
		t.Errorf("%v %v", got.Tasks, err)
	}
	if !maps.Equal(on.asked, map[string]string{"workflows.argoproj.io/workflow": "a"}) {
		t.Errorf("pods were asked for by %v", on.asked)
	}
}

func TestAnothersRunDoesNotExist(t *testing.T) {
	if _, err := call(&cluster{run: "a"}, function.Caller{Name: "cd"}, `{"run": "a"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}
