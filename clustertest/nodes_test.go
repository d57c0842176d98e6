//go:build cluster

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/functions/placements"
	"github.com/runhook/runhook/pkg/capacity"
)

// allPods gives what `kubectl get pods -A` shows.
func (s *site) allPods() []corev1.Pod {
	s.Helper()
	list, err := s.kube.CoreV1().Pods(metav1.NamespaceAll).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// podOf gives the newest pod of a task, or fails to.
func (s *site) podOf(run, task string) (*corev1.Pod, error) {
	list, err := s.kube.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{LabelSelector: "runhook/run=" + run + ",runhook/task=" + task})
	if err != nil {
		return nil, err
	}
	var newest *corev1.Pod
	for i := range list.Items {
		if newest == nil || newest.CreationTimestamp.Before(&list.Items[i].CreationTimestamp) {
			newest = &list.Items[i]
		}
	}
	if newest == nil {
		return nil, errors.New("there is no pod")
	}
	return newest, nil
}

// runningPod waits until the main container of a task runs.
func (s *site) runningPod(run, task string) *corev1.Pod {
	s.Helper()
	var pod *corev1.Pod
	s.eventually("task "+task+" of run "+run+" runs", func() error {
		var err error
		if pod, err = s.podOf(run, task); err != nil {
			return err
		}
		for _, container := range pod.Status.ContainerStatuses {
			if container.Name == "main" && container.State.Running != nil {
				return nil
			}
		}
		return fmt.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
	})
	return pod
}

// sums adds up what the pods of a node request, by hand: none of this cluster
// has a sidecar, an overhead or requests of its own.
func sums(pods []corev1.Pod, node string) (cores, memoryGiB float64) {
	for _, pod := range pods {
		_, ofRun := pod.Labels["runhook/run"]
		if pod.Spec.NodeName != node || ofRun || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, container := range pod.Spec.Containers {
			cores += container.Resources.Requests.Cpu().AsApproximateFloat64()
			memoryGiB += container.Resources.Requests.Memory().AsApproximateFloat64() / (1 << 30)
		}
	}
	return cores, memoryGiB
}

func TestNodesAndPlacementsAreWhatTheClusterShows(t *testing.T) {
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("hold", "sleep 600", map[string]any{"resources": map[string]any{"cpu": "150m", "memory": "96Mi"}}),
	}})
	pod := s.runningPod(run, "hold")

	nodes, err := s.kube.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{LabelSelector: "simrun/worker=true"})
	if err != nil {
		t.Fatal(err)
	}
	pods := s.allPods()
	want := []capacity.Node{}
	for _, node := range nodes.Items {
		cores, memory := sums(pods, node.Name)
		free := capacity.Free{
			Cores:     node.Status.Allocatable.Cpu().AsApproximateFloat64() - cores,
			MemoryGiB: node.Status.Allocatable.Memory().AsApproximateFloat64()/(1<<30) - memory,
		}
		want = append(want, capacity.Node{
			Name: node.Name, Free: free,
			Cores: int64(math.Floor(free.Cores - 0.01)), MemoryGiB: int64(math.Floor(free.MemoryGiB - 64.0/1024)),
		})
	}
	var got capacity.Nodes
	answer := s.call("planner-token", "nodes", map[string]any{})
	answer.decode(t, &got)
	if diff := cmp.Diff(want, got.Nodes, cmpopts.EquateApprox(0, 1e-6)); answer.code != http.StatusOK || diff != "" {
		t.Errorf("%d, what the cluster shows -, what nodes says +:\n%s", answer.code, diff)
	}

	var placed placements.Response
	s.call("planner-token", "placements", map[string]any{}).decode(t, &placed)
	mine := []placements.Placement{}
	for _, p := range placed.Placements {
		if p.Run == run {
			mine = append(mine, p)
		}
	}
	// Argo's executor takes 10m and 64Mi beside the program.
	wantPlaced := []placements.Placement{{Run: run, Task: "hold", Pod: pod.Name, Node: pod.Spec.NodeName, Phase: "Running", Cores: 0.16, MemoryGiB: 0.15625}}
	if diff := cmp.Diff(wantPlaced, mine); diff != "" {
		t.Errorf("what the cluster shows -, what placements says +:\n%s", diff)
	}
}

func TestReservationEvictsAndLetsIn(t *testing.T) {
	s := newSite(t)
	const node = "node3"
	submit := func(run map[string]any) string { return s.submitAs("planner-token", run) }
	foreign := submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("hold", "trap exit TERM; sleep 600 & wait", map[string]any{"nodes": []string{node}, "retry": map[string]any{"failures": 1, "backoff": "1s"}}),
	}})
	there := s.runningPod(foreign, "hold")
	if there.Spec.NodeName != node {
		t.Fatalf("a task that is pinned to %s runs on %s", node, there.Spec.NodeName)
	}
	mine := submit(map[string]any{"id": unique(t), "queue": "research", "reserved": true, "tasks": []any{
		task("come", "echo here'<end>'; sleep 600"),
	}})
	s.eventually("the run waits for its node", func() error {
		pod, err := s.podOf(mine, "come")
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
				return nil
			}
		}
		return fmt.Errorf("%+v", pod.Status.Conditions)
	})

	reservation := map[string]any{"node": node, "run": mine}
	t.Cleanup(func() { s.call("planner-token", "unreserve", reservation) })
	for _, want := range []string{
		fmt.Sprintf(`{"node":%q,"run":%q,"replaced":null,"changed":true}`, node, mine),
		fmt.Sprintf(`{"node":%q,"run":%q,"replaced":null,"changed":false}`, node, mine),
	} {
		if got := s.call("planner-token", "reserve", reservation); got.code != http.StatusOK || string(trimmed(got.body)) != want {
			t.Fatalf("got %d %s, want %s", got.code, got.body, want)
		}
	}
	s.eventually("the foreign pod is evicted", func() error {
		pod, err := s.podOf(foreign, "hold")
		if err == nil && pod.UID == there.UID {
			return fmt.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
		}
		return nil
	})
	if pod := s.runningPod(mine, "come"); pod.Spec.NodeName != node {
		t.Errorf("the run landed on %s, want the node that is reserved for it", pod.Spec.NodeName)
	}
	if got := s.call("planner-token", "reserve", map[string]any{"node": node, "run": foreign, "ifFree": true}); got.code != http.StatusConflict {
		t.Errorf("ifFree on a reserved node: %d %s", got.code, got.body)
	}
	if got := s.call("planner-token", "unreserve", map[string]any{"node": node, "run": foreign}); got.code != http.StatusConflict {
		t.Errorf("unreserve for another run: %d %s", got.code, got.body)
	}
	if got := s.call("planner-token", "unreserve", reservation); got.code != http.StatusOK {
		t.Fatalf("unreserve: %d %s", got.code, got.body)
	}
	after, err := s.kube.CoreV1().Nodes().Get(context.Background(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, labelled := after.Labels["simrun/reserved"]; labelled || len(after.Spec.Taints) > 0 {
		t.Errorf("the node is left with labels %v and taints %v", after.Labels, after.Spec.Taints)
	}
	if back := s.runningPod(foreign, "hold"); back.Spec.NodeName != node {
		t.Errorf("the foreign run came back on %s", back.Spec.NodeName)
	}
}

func TestRefusedReservations(t *testing.T) {
	s := newSite(t)
	for name, tc := range map[string]struct {
		token string
		body  map[string]any
		want  int
	}{
		"without the right":  {"guest-token", map[string]any{"node": "node1", "run": "a"}, http.StatusForbidden},
		"unknown node":       {"planner-token", map[string]any{"node": "no-such-node", "run": "a"}, http.StatusNotFound},
		"not a node's name":  {"planner-token", map[string]any{"node": "../pods", "run": "a"}, http.StatusUnprocessableEntity},
		"not a run's name":   {"planner-token", map[string]any{"node": "node1", "run": "a b"}, http.StatusUnprocessableEntity},
		"not to be called":   {"reader-token", map[string]any{"node": "node1", "run": "a"}, http.StatusForbidden},
		"an unknown request": {"planner-token", map[string]any{"node": "node1", "run": "a", "force": true}, http.StatusUnprocessableEntity},
	} {
		if got := s.call(tc.token, "reserve", tc.body); got.code != tc.want {
			t.Errorf("%s: got %d %s, want %d", name, got.code, got.body, tc.want)
		}
	}
}
