//go:build cluster

package clustertest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// way is one in which a program that runs is ended from outside.
type way struct {
	// fit is what its task needs beside a little cpu.
	fit map[string]any
	// first comes before the run.
	first func(*trial)
	// happens ends the pod, and gives what lets the next attempt run.
	happens func(*trial, *corev1.Pod) (undo func())
	cause   cause.Cause
	reason  string
	// unproven: no condition stood on the pod.
	unproven bool
}

// try ends the first attempt of a run; its second one succeeds.
func (w way) try(t *testing.T) {
	r := newTrial(t)
	if w.first != nil {
		w.first(r)
	}
	r.start(task("fit", holdOnce, cpu("100m"), retry(0), w.fit), nil)
	r.settled(r.run, "fit(0)")
	undo := w.happens(r, r.runningPod(r.run, "fit"))
	r.waitEnd()
	undo()
	r.wantEnds(status.Succeeded, status.Attempt{
		Phase: status.Failed, Cause: w.cause, Reason: w.reason, ExitCode: new(143), Interrupted: !w.unproven,
	}, succeeded(1))
}

// TestWhatEndsAProgramIsTold is about what happens to one pod or queue.
func TestWhatEndsAProgramIsTold(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]way{
		"preempted": {
			happens: func(r *trial, _ *corev1.Pod) func() { return r.outranked() },
			cause:   cause.Preempted, reason: "WorkloadEvictedDueToPreempted",
		},
		"LocalQueue stopped": {
			happens: func(r *trial, _ *corev1.Pod) func() { return r.stopQueue(r.localQueue()) },
			cause:   cause.Evicted, reason: "WorkloadEvictedDueToLocalQueueStopped",
		},
		"ClusterQueue stopped": {
			happens: func(r *trial, _ *corev1.Pod) func() { return r.stopQueue(r.clusterQueue()) },
			cause:   cause.Evicted, reason: "WorkloadEvictedDueToClusterQueueStopped",
		},
		"preempted by the scheduler": {
			fit: needsSlot, first: giveSlot, happens: takeSlot,
			cause: cause.PreemptedByScheduler, reason: "PreemptionByScheduler",
		},
		"drained": {
			happens: func(r *trial, pod *corev1.Pod) func() {
				must(r.site, r.kube.PolicyV1().Evictions(namespace).Evict(r.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: namespace}}))
				return nothing
			},
			cause: cause.Drained, reason: "EvictionByEvictionAPI",
		},
		"deleted": {
			happens: func(r *trial, pod *corev1.Pod) func() {
				must(r.site, r.kube.CoreV1().Pods(namespace).Delete(r.Context(), pod.Name, metav1.DeleteOptions{}))
				return nothing
			},
			cause: cause.Deleted, unproven: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.try(t)
		})
	}
}

// TestWhatEndsAProgramAndDisturbsOthersIsTold is about nodes and controllers
// that other tests use: none of them runs meanwhile.
func TestWhatEndsAProgramAndDisturbsOthersIsTold(t *testing.T) {
	for name, w := range map[string]way{
		"node reserved for another": {
			fit: pinned("node2"), happens: reserve,
			cause: cause.Taint, reason: "DeletionByTaintManager",
		},
		"node without its kubelet": {
			fit: pinned("node3"), happens: loseKubelet,
			cause: cause.Taint, reason: "DeletionByTaintManager",
		},
		"preempted without the workflow controller": {
			fit: pinned("node1"), happens: preemptUnseen,
			cause: cause.Preempted, reason: "WorkloadEvictedDueToPreempted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // beside each other
			w.try(t)
		})
	}
}
