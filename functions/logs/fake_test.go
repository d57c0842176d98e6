package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
)

// node is one of Argo's nodes, as a test says it.
type node struct {
	id, name, kind, phase string
	children              []string
	message               string
}

// pump is a run of a task `fetch` and of a split task `fit`: worker 0 has had
// two attempts and is in its third, worker 1 waits, the merge comes later.
func pump(nodes ...node) []byte {
	if nodes == nil {
		nodes = []node{
			{"pump", "pump", "DAG", "Running", []string{"pump-1", "pump-2"}, ""},
			{"pump-1", "pump.fetch", "Pod", "Succeeded", nil, ""},
			{"pump-2", "pump.fit", "DAG", "Running", []string{"pump-3", "pump-4"}, ""},
			{"pump-3", "pump.fit.fit-0", "Retry", "Running", []string{"pump-30", "pump-31", "pump-32"}, ""},
			{"pump-30", "pump.fit.fit-0(0)", "Pod", "Failed", nil, "main: Error (exit code 1)"},
			{"pump-31", "pump.fit.fit-0(1)", "Pod", "Failed", nil, "main: Error (exit code 1)"},
			{"pump-32", "pump.fit.fit-0(2)", "Pod", "Running", nil, ""},
			{"pump-4", "pump.fit.fit-1", "Retry", "Running", []string{"pump-40"}, ""},
			{"pump-40", "pump.fit.fit-1(0)", "Pod", "Pending", nil, ""},
		}
	}
	return workflow("pump", map[string]string{"runhook/run": "pump"}, nodes...)
}

func workflow(name string, labels map[string]string, nodes ...node) []byte {
	all := map[string]any{}
	for i, n := range nodes {
		display := n.name[strings.LastIndexByte(n.name, '.')+1:]
		entry := map[string]any{
			"id": n.id, "name": n.name, "displayName": display, "type": n.kind, "phase": n.phase, "children": n.children,
			"templateName": "t", "message": n.message, "startedAt": fmt.Sprintf("2026-01-01T00:00:%02dZ", i),
		}
		if n.phase == "Succeeded" || n.phase == "Failed" {
			entry["finishedAt"] = fmt.Sprintf("2026-01-01T00:01:%02dZ", i)
		}
		all[n.id] = entry
	}
	allLabels := map[string]string{"runhook/run": "a"}
	for key, value := range labels {
		allLabels[key] = value
	}
	phase := "Running"
	if len(nodes) > 0 {
		phase = nodes[0].phase
	}
	tasks := func(names ...string) map[string]any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"name": name, "template": name})
		}
		return map[string]any{"tasks": list}
	}
	encoded, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "namespace": "runs", "uid": "u-" + name, "labels": allLabels, "annotations": map[string]string{"runhook/caller": "ci"}},
		"spec": map[string]any{"entrypoint": "main", "templates": []any{
			map[string]any{"name": "main", "dag": tasks("fetch", "fit")},
			map[string]any{"name": "fit", "dag": tasks("fit-0", "fit-1", "fit-merge")},
		}},
		"status": map[string]any{"phase": phase, "nodes": all},
	})
	if err != nil {
		panic(err)
	}
	return encoded
}

// pod is a pod of one of these nodes.
func pod(name, node string, phase corev1.PodPhase, state corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "runs", UID: types.UID("u-" + name),
			Annotations: map[string]string{"workflows.argoproj.io/node-id": node},
		},
		Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "wait"}, {Name: "main"}}},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "wait", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			{Name: "main", State: state},
		}},
	}
}

var (
	ended   = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	running = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
)

// cluster is a run with its pods and what they have printed.
type cluster struct {
	lock     sync.Mutex
	run      []byte
	helpers  [][]byte
	pods     []corev1.Pod
	texts    map[string]string // by pod/container
	faults   map[string]error  // by pod/container
	followed map[string]func(context.Context) io.ReadCloser
	asked    []string
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if name != "pump" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return c.run, nil
}

func (c *cluster) Workflows(context.Context, map[string]string) ([]byte, error) {
	items := []json.RawMessage{}
	for _, helper := range c.helpers {
		items = append(items, helper)
	}
	return json.Marshal(map[string]any{"items": items})
}

func (c *cluster) Pods(context.Context, map[string]string) ([]corev1.Pod, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.pods, nil
}

func (c *cluster) Log(ctx context.Context, pod, container string, lines *int64, bytes int64) ([]byte, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	key := pod + "/" + container
	c.asked = append(c.asked, key)
	text := c.texts[key]
	if lines != nil {
		all := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		text = strings.Join(all[max(0, len(all)-int(*lines)):], "")
	}
	return []byte(text[:min(len(text), int(bytes))]), c.faults[key]
}

func (c *cluster) FollowLog(ctx context.Context, pod, container string, _ *int64) (io.ReadCloser, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	key := pod + "/" + container
	if follow := c.followed[key]; follow != nil {
		return follow(ctx), nil
	}
	return io.NopCloser(strings.NewReader(c.texts[key])), c.faults[key]
}

func newCluster() *cluster {
	return &cluster{
		run: pump(),
		pods: []corev1.Pod{
			pod("p-fetch", "pump-1", corev1.PodSucceeded, ended),
			pod("p-0-1", "pump-31", corev1.PodFailed, ended),
			pod("p-0-2", "pump-32", corev1.PodRunning, running),
			pod("p-1-0", "pump-40", corev1.PodPending, waiting),
		},
		texts:  map[string]string{"p-fetch/main": "fetched\n", "p-0-1/main": "one\ntwo\n", "p-0-2/main": "three\n"},
		faults: map[string]error{},
	}
}

func away() error { return fault.New(fault.Unavailable, "the cluster cannot be reached") }

func read(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}
