package record

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
	cases "github.com/runhook/runhook/pkg/status/recorded"
)

// object is a Workflow or a pod, as the API server has it.
type object = map[string]any

// cluster is one that was recorded at a moment, and what was written on it since.
type cluster struct {
	lock      sync.Mutex
	workflows map[string]object
	pods      map[string]corev1.Pod
	version   int
	writes    int
	conflicts int // how many writes fail because somebody was faster
	away      bool
}

// recorded gives a case of a real cluster at a moment.
func recorded(t testing.TB, name, moment string) *cluster {
	t.Helper()
	moments := cases.Read(t, name)
	c := &cluster{workflows: map[string]object{}, pods: map[string]corev1.Pod{}}
	var workflows struct{ Items []object }
	if err := json.Unmarshal(moments[moment+"-wf.json"], &workflows); err != nil {
		t.Fatal(err)
	}
	if len(workflows.Items) == 0 {
		var one object
		if err := json.Unmarshal(moments[moment+"-wf.json"], &one); err != nil {
			t.Fatal(err)
		}
		workflows.Items = []object{one}
	}
	for _, w := range workflows.Items {
		c.workflows[w["metadata"].(object)["name"].(string)] = w
	}
	var pods corev1.PodList
	if err := json.Unmarshal(moments[moment+"-pods.json"], &pods); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		c.pods[pod.Name] = pod
	}
	return c
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	w, ok := c.workflows[name]
	switch {
	case c.away:
		return nil, fault.New(fault.Unavailable, "away")
	case !ok:
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	w["metadata"].(object)["resourceVersion"] = strconv.Itoa(c.version)
	return json.Marshal(w)
}

func (c *cluster) Workflows(context.Context, map[string]string) ([]byte, error) {
	return nil, fault.New(fault.Internal, "record lists no Workflows")
}

func (c *cluster) WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	raw, err := c.Workflow(ctx, name)
	if err != nil {
		return nil, err
	}
	var m metav1.PartialObjectMetadata
	return &m, json.Unmarshal(raw, &m)
}

// Annotate writes as the API server does: under the version that was read.
func (c *cluster) Annotate(_ context.Context, name, version, key, value string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.conflicts > 0 {
		c.conflicts--
		c.version++
	}
	if version != strconv.Itoa(c.version) {
		return fault.New(fault.Conflict, "changed")
	}
	metadata := c.workflows[name]["metadata"].(object)
	annotations, _ := metadata["annotations"].(object)
	if annotations == nil {
		annotations = object{}
		metadata["annotations"] = annotations
	}
	annotations[key] = value
	c.version++
	c.writes++
	return nil
}

func (c *cluster) Pod(_ context.Context, name string) (*corev1.Pod, error) {
	if pod, ok := c.pods[name]; ok {
		return &pod, nil
	}
	return nil, fault.New(fault.NotFound, "pod %s does not exist", name)
}

func (c *cluster) Pods(_ context.Context, labels map[string]string) ([]corev1.Pod, error) {
	var some []corev1.Pod
	for _, pod := range c.pods {
		if pod.Labels[cause.WorkflowLabel] == labels[cause.WorkflowLabel] {
			some = append(some, pod)
		}
	}
	return some, nil
}

// state is a Workflow as it stands.
func (c *cluster) state(t testing.TB, name string) *status.Workflow {
	t.Helper()
	raw, err := c.Workflow(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := status.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// evidence is what stands on a Workflow.
func (c *cluster) evidence(t testing.TB, name string) *cause.Evidence {
	t.Helper()
	e, err := cause.Decode(c.state(t, name).Metadata.Annotations[cause.Annotation])
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const source = "/namespaces/argo"

var sensor = function.Caller{Name: "sensor", AllRuns: true}

// call calls a minute after all that was recorded.
func (c *cluster) call(ctx context.Context, caller function.Caller, foreign owner.Foreign, body any) ([]string, Response, error) {
	raw, ok := body.([]byte)
	if !ok {
		raw, _ = json.Marshal(body)
	}
	settings := Settings{Namespace: "argo", Source: source, Foreign: foreign}
	r := recorder{c, settings, lookup.Finder{Cluster: c, Foreign: foreign}, func() time.Time { return now }}
	got, err := function.Typed(r.handle)(ctx, function.Call{Caller: caller, Body: raw})
	if err != nil {
		return nil, Response{}, err
	}
	response := got.Body.(Response)
	ids := []string{}
	for _, e := range response.Events {
		ids = append(ids, e.ID())
	}
	return ids, response, nil
}

// now is when all calls are made: a minute after all that was recorded.
var now = time.Date(2026, 11, 30, 20, 30, 0, 0, time.UTC)

// at is a time of the day of the records.
func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-30T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// preempted is Kueue's condition, as pods have it beside others.
func preempted(clock string) []corev1.PodCondition {
	return []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at("01:00:00"))},
		{Type: "TerminationTarget", Status: corev1.ConditionTrue, Reason: "WorkloadEvictedDueToPreempted", Message: "to make room", LastTransitionTime: metav1.NewTime(at(clock))},
	}
}
