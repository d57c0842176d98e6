//go:build cluster

package clustertest

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// holdOnce is held by its first attempt for ever; the next ones succeed.
const holdOnce = "test $RUNHOOK_ATTEMPT != 0 || { " + hold + "; }"

func TestPreemptedRunStillSucceeds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	queue, run := s.scarce(), unique(t)
	got := s.call("planner-token", "submit", map[string]any{"id": run, "queue": queue, "priority": "normal", "tasks": []any{
		task("fit", holdOnce, cpu("300m"), retry(0), map[string]any{
			"nodes": []string{"node1", "node2", "node3"},
			"split": map[string]any{"workers": 4, "merge": map[string]any{"command": []string{"true"}}},
		}),
	}})
	if got.code != http.StatusCreated {
		t.Fatalf("submit answered %d: %s", got.code, got.body)
	}
	s.deleteAtEnd(run)
	workers := []string{"fit.fit-0", "fit.fit-1", "fit.fit-2", "fit.fit-3"}
	for i := range workers {
		s.settled(run, fmt.Sprintf("fit-%d(0)", i))
	}
	if on := s.nodesOf(run); len(on) != 3 {
		t.Errorf("four workers that are pinned to three nodes are on %v", on)
	}

	// All four must make room: three leave 1.69 cpu.
	other := s.outrank(queue, "1900m")
	is := s.waitTasks(run, status.Preempted, workers...)
	if is.Phase != status.Preempted || is.Tasks["fit"].Phase != status.Preempted {
		t.Errorf("the run is %s, its split task %+v", is.Phase, is.Tasks["fit"])
	}
	for i := range workers {
		attempts := is.Attempts[fmt.Sprintf("fit-%d", i)]
		if len(attempts) != 1 || !interruption(attempts[0]) {
			t.Errorf("worker %d was interrupted once: %+v", i, attempts)
		}
	}
	s.eventually("its workers are queued again", func() error {
		for _, worker := range workers {
			if waiting := s.status(run).Tasks[worker].Waiting; waiting == nil || waiting.Reason != status.Queued {
				return fmt.Errorf("%s waits for %+v", worker, waiting)
			}
		}
		return nil
	})

	s.cancel(other)
	s.waitPhase(run, "Succeeded")
	is = s.status(run)
	if fit := is.Tasks["fit"]; is.Phase != status.Succeeded || fit.Phase != status.Succeeded || *fit.Done != 4 || *fit.Of != 4 {
		t.Errorf("the run is %s, its split task %+v", is.Phase, fit)
	}
	if merge := is.Tasks["fit.fit-merge"]; merge.Phase != status.Succeeded {
		t.Errorf("the merge is %+v", merge)
	}
}

// nodesOf counts the pods of a run by their nodes.
func (s *site) nodesOf(run string) map[string]int {
	s.Helper()
	list, err := s.kube.CoreV1().Pods(namespace).List(s.Context(), metav1.ListOptions{LabelSelector: "runhook/run=" + run})
	must(s, err)
	on := map[string]int{}
	for _, pod := range list.Items {
		on[pod.Spec.NodeName]++
	}
	return on
}

func TestPreemptionsAreNoFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	queue := s.scarce()
	run := s.submit(map[string]any{"id": unique(t), "queue": queue, "priority": "normal", "tasks": []any{
		task("fit", "case $RUNHOOK_ATTEMPT in 0|1) "+hold+";; 2) exit 7;; esac", cpu("1500m"), retry(3)),
	}})
	for i := range 2 {
		s.settled(run, fmt.Sprintf("fit(%d)", i))
		other := s.outrank(queue, "1500m")
		is := s.waitTasks(run, status.Preempted, "fit")
		if attempts := is.Attempts["fit"]; is.Phase != status.Preempted || len(attempts) != i+1 || !interruption(attempts[i]) {
			t.Errorf("preempted for the %d. time, the run is %s: %+v", i+1, is.Phase, attempts)
		}
		s.cancel(other)
	}
	s.waitPhase(run, "Succeeded")
	attempts := s.status(run).Attempts["fit"]
	if len(attempts) != 3 || !interruption(attempts[0]) || !interruption(attempts[1]) {
		t.Fatalf("want two interruptions and a failure: %+v", attempts)
	}
	if a := attempts[2]; a.Attempt != 2 || a.Cause != cause.Application || a.ExitCode == nil || *a.ExitCode != 7 {
		t.Errorf("the failure reads %+v", a)
	}
}
