package nodes

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

// cluster holds one node and one pod, and breaks where it is told.
type cluster struct {
	selector           string
	nodeFault, podFail error
}

func quantities(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("4Gi")}
}

func (c *cluster) EachNode(_ context.Context, selector string, visit func(*corev1.Node)) error {
	c.selector = selector
	visit(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"w": "yes"}},
		Status:     corev1.NodeStatus{Allocatable: quantities("4")},
	})
	return c.nodeFault
}

func (c *cluster) EachBoundPod(_ context.Context, visit func(*corev1.Pod)) error {
	visit(&corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}},
	}}}})
	return c.podFail
}

func call(t *testing.T, c *cluster, body string) (function.Response, error) {
	t.Helper()
	settings := capacity.Settings{Workers: labels.SelectorFromSet(labels.Set{"w": "yes"}), RunLabel: "run", Executor: capacity.Amount{MilliCPU: 10, Bytes: 64 << 20}}
	return New(c, settings).Handle(t.Context(), function.Call{Body: json.RawMessage(body)})
}

func TestNodes(t *testing.T) {
	c := &cluster{}
	response, err := call(t, c, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"nodes":[{"name":"n1","cores":3,"memoryGiB":3,"free":{"cores":3.5,"memoryGiB":4},"reservedFor":null}]}`
	if response.Status != http.StatusOK || string(encoded) != want {
		t.Errorf("got %d %s, want %s", response.Status, encoded, want)
	}
	if c.selector != "w=yes" {
		t.Errorf("asked for nodes with %q: the API server shall leave the others out", c.selector)
	}
}

func TestHalfAListIsNoAnswer(t *testing.T) {
	away := fault.New(fault.Unavailable, "away")
	for name, c := range map[string]*cluster{"nodes": {nodeFault: away}, "pods": {podFail: away}} {
		if _, err := call(t, c, `{}`); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestUnknownKeysAreRefused(t *testing.T) {
	if _, err := call(t, &cluster{}, `{"node":"n1"}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
}
