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

// holdOnce is held by its first attempt for ever; the next ones of a worker
// succeed, those of a helper are held too.
const holdOnce = "test $RUNHOOK_EXTRA = true || test $RUNHOOK_ATTEMPT = 0 || exit 0; " + hold

// TestPreemptedRunStillSucceeds fills the 2 cpu of the queue with four workers
// and two helpers of 310m, and takes it away from them in two steps.
func TestPreemptedRunStillSucceeds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	queue, run := s.scarce(), unique(t)
	got := s.call("planner-token", "submit", map[string]any{"id": run, "queue": queue, "priority": "normal", "tasks": []any{
		task("fit", holdOnce, cpu("300m"), retry(0), map[string]any{
			"nodes": []string{"node1", "node2", "node3"},
			"split": map[string]any{"workers": 4, "extra": 2, "merge": map[string]any{"command": []string{"true"}}},
		}),
	}})
	if got.code != http.StatusCreated {
		t.Fatalf("submit answered %d: %s", got.code, got.body)
	}
	s.deleteAtEnd(run)
	var workers, helpers []string
	for i := range 4 {
		workers = append(workers, fmt.Sprintf("fit-%d", i))
		s.settled(run, workers[i]+"(0)")
	}
	for i := range 2 {
		helpers = append(helpers, fmt.Sprintf("fit-extra-%d", i))
		helper := fmt.Sprintf("%s-extra-fit-%d", run, i)
		s.settled(helper, helper+"(0)")
	}
	if on := s.nodesOf(run); len(on) != 3 {
		t.Errorf("workers that are pinned to three nodes are on %v", on)
	}

	// The helpers are the first to make room, and enough.
	s.outrank(queue, "500m")
	s.wantQueuedAgain(run, status.Running, helpers)
	if attempts := s.status(run).Attempts[workers[0]]; len(attempts) > 0 {
		t.Errorf("a worker was interrupted for what its helpers had: %+v", attempts)
	}
	// Here all four workers must make room.
	other := s.outrank(queue, "1400m")
	s.wantQueuedAgain(run, status.Preempted, workers)

	s.cancel(other)
	s.waitPhase(run, "Succeeded")
	is := s.status(run)
	if fit := is.Tasks["fit"]; is.Phase != status.Succeeded || fit.Phase != status.Succeeded || *fit.Done != 4 || *fit.Of != 4 {
		t.Errorf("the run is %s, its split task %+v", is.Phase, fit)
	}
	if merge := is.Tasks["fit.fit-merge"]; merge.Phase != status.Succeeded {
		t.Errorf("the merge is %+v", merge)
	}
	for _, helper := range helpers {
		if got := is.Tasks["fit."+helper].Phase; got == status.Succeeded || got == status.Failed {
			t.Errorf("the helper %s, which is held for ever, is %s", helper, got)
		}
	}
}

// wantQueuedAgain waits until parts of the task fit are Preempted and queued
// again, each after one attempt that was.
func (s *site) wantQueuedAgain(run string, phase status.Phase, parts []string) {
	s.Helper()
	var tasks []string
	for _, part := range parts {
		tasks = append(tasks, "fit."+part)
	}
	is := s.waitTasks(run, status.Preempted, tasks...)
	if is.Phase != phase || is.Tasks["fit"].Phase != phase {
		s.Errorf("the run is %s, its split task %+v; want %s", is.Phase, is.Tasks["fit"], phase)
	}
	for _, part := range parts {
		s.wantPreempted(run, part, 1)
	}
	s.eventually(fmt.Sprintf("%v are queued again", parts), func() error {
		for _, task := range tasks {
			if waiting := s.status(run).Tasks[task].Waiting; waiting == nil || waiting.Reason != status.Queued {
				return fmt.Errorf("%s waits for %+v", task, waiting)
			}
		}
		return nil
	})
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
		if is := s.waitTasks(run, status.Preempted, "fit"); is.Phase != status.Preempted {
			t.Errorf("preempted for the %d. time, the run is %s", i+1, is.Phase)
		}
		s.wantPreempted(run, "fit", i+1)
		s.cancel(other)
	}
	s.waitPhase(run, "Succeeded")
	attempts := s.status(run).Attempts["fit"]
	if len(attempts) != 3 {
		t.Fatalf("want two preemptions and a failure: %+v", attempts)
	}
	if a := attempts[2]; a.Attempt != 2 || a.Cause != cause.Application || a.Interrupted || a.ExitCode == nil || *a.ExitCode != 7 {
		t.Errorf("the failure reads %+v", a)
	}
}
