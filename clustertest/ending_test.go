//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/runhook/runhook/pkg/shutdown"
	"github.com/runhook/runhook/pkg/status"
)

// endings are the two functions that end a run.
var endings = []string{"cancel", "stop"}

func (s *site) end(function, run string) shutdown.Response {
	s.Helper()
	got := s.call("demo-token", function, map[string]any{"run": run})
	if got.code != http.StatusOK {
		s.Fatalf("%s answered %d: %s", function, got.code, got.body)
	}
	var response shutdown.Response
	got.decode(s.T, &response)
	return response
}

// wantEnded ends a run that goes on, and sees that nothing of it is left: no
// pod that runs or waits, and nothing that Kueue queues or counts.
func (s *site) wantEnded(function, run string, from status.Phase) {
	s.Helper()
	if got := s.status(run).Phase; got != from {
		s.Fatalf("the run is %s, want %s", got, from)
	}
	if got := s.end(function, run); got.Run != run || !got.Changed {
		s.Errorf("%s gave %+v, want a change", function, got)
	}
	s.waitPhase(run, "Failed")
	is := s.status(run)
	if is.Phase != status.Stopped || is.Tasks["hold"].Phase != status.Stopped {
		s.Errorf("after %s: %+v", function, is)
	}
	// Argo notes now and then that it left out what never began.
	if after := is.Tasks["after"].Phase; after != status.Stopped && after != status.Skipped {
		s.Errorf("after %s the task that never began is %s", function, after)
	}
	s.eventually("pods and Workloads of run "+run+" have ended", func() error {
		if pods, workloads := s.openPods(run), s.openWorkloads(run); len(pods)+len(workloads) > 0 {
			return fmt.Errorf("pods %v, Workloads %v", pods, workloads)
		}
		return nil
	})
	s.wantUnchanged(function, run, status.Stopped)
}

// wantUnchanged ends a run that has ended, which changes nothing, and deletes
// it, which leaves no Workload behind.
func (s *site) wantUnchanged(function, run string, phase status.Phase) {
	s.Helper()
	// Its status may still change: its pods end a moment after it.
	spec := func() string {
		workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		must(s, err)
		text, err := json.Marshal(workflow.Spec)
		must(s, err)
		return string(text)
	}
	before := spec()
	if got := s.end(function, run); got != (shutdown.Response{Run: run, Phase: phase}) {
		s.Errorf("%s of a run that has ended gave %+v", function, got)
	}
	if after := spec(); after != before {
		s.Errorf("%s of a run that has ended changed its Workflow:\n%s\n%s", function, before, after)
	}
	if is := s.status(run); is.Phase != phase {
		s.Errorf("the run was %s, and is %s", phase, is.Phase)
	}
	s.delete(run)
	s.eventually("Kueue has forgotten run "+run, func() error {
		if left := s.workloads(run, func(unstructured.Unstructured) bool { return true }); len(left) > 0 {
			return fmt.Errorf("there are %v", left)
		}
		return nil
	})
}

// holding is a run of one task that ends when it is told to, and one after it.
func holding(t *testing.T, queue, amount string) map[string]any {
	return map[string]any{"id": unique(t), "queue": queue, "priority": "normal", "tasks": []any{
		task("hold", hold, cpu(amount), retry(3)), task("after", "true", map[string]any{"needs": []string{"hold"}}),
	}}
}

func TestEndingARun(t *testing.T) {
	t.Parallel()
	for _, function := range endings {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			for name, ends := range map[string]func(s *site){
				"Pending": func(s *site) {
					run := s.submit(holding(s.T, "research", "100")) // more than the quota is
					s.eventually("run "+run+" is queued", func() error {
						if waiting := s.status(run).Tasks["hold"].Waiting; waiting == nil || waiting.Reason != status.Queued {
							return fmt.Errorf("it waits for %+v", waiting)
						}
						return nil
					})
					s.wantEnded(function, run, status.Pending)
				},
				"Running": func(s *site) {
					run := s.submit(holding(s.T, "research", "100m"))
					s.runningPod(run, "hold")
					s.waitTasks(run, status.Running, "hold")
					s.wantEnded(function, run, status.Running)
				},
				"ended": func(s *site) {
					run := s.submit(map[string]any{"id": unique(s.T), "queue": "research", "tasks": []any{task("a", "true")}})
					s.waitPhase(run, "Succeeded")
					s.wantUnchanged(function, run, status.Succeeded)
				},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					ends(newSite(t))
				})
			}
		})
	}
}

func TestEndingAPreemptedRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	queue := s.scarce()
	runs := map[string]string{}
	for _, function := range endings {
		runs[function] = s.submit(holding(t, queue, "900m"))
		s.settled(runs[function], "hold(0)")
	}
	s.outrank(queue, "1900m")
	for function, run := range runs {
		s.waitTasks(run, status.Preempted, "hold")
		s.wantEnded(function, run, status.Preempted)
	}
}
