//go:build cluster

package clustertest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/functions/extra"
	"github.com/runhook/runhook/pkg/status"
)

func (s *site) extra(run string, workers int) answer {
	s.Helper()
	return s.call("demo-token", "extra", map[string]any{"run": run, "task": "fit", "workers": workers})
}

// wantExtra asks for helpers until all are there: a name that was used before
// becomes free only when its pods have gone.
func (s *site) wantExtra(run string, workers int) {
	s.Helper()
	changed := false
	s.eventually(fmt.Sprintf("run %s has %d helpers", run, workers), func() error {
		got := s.extra(run, workers)
		if got.code != http.StatusOK && got.code != http.StatusAccepted {
			s.Fatalf("extra answered %d: %s", got.code, got.body)
		}
		var response extra.Response
		got.decode(s.T, &response)
		changed = changed || response.Changed
		if response.Workers != workers {
			return fmt.Errorf("%+v", response)
		}
		return nil
	})
	var again extra.Response
	s.extra(run, workers).decode(s.T, &again)
	if !changed || again.Changed {
		s.Errorf("changed: %t, and the second time: %t", changed, again.Changed)
	}
}

func TestHelpersComeAndGoAndEndWithTheirRun(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"cancel", "stop"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			run := s.submit(map[string]any{"id": unique(t) + "-" + end, "queue": "research", "priority": "normal", "deadline": "1h", "tasks": []any{
				task("fit", hold, cpu("50m"), map[string]any{"split": map[string]any{"workers": 2, "extra": 2}}),
			}})
			// The watch's leader has added them.
			s.waitTasks(run, status.Running, "fit.fit-0", "fit.fit-1", "fit.fit-extra-0", "fit.fit-extra-1")
			helper, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(t.Context(), run+"-extra-fit-1", metav1.GetOptions{})
			must(s, err)
			labels := helper.Spec.PodMetadata.Labels
			if labels["kueue.x-k8s.io/priority-class"] != "extra" || labels["kueue.x-k8s.io/queue-name"] != "research" {
				t.Errorf("its pods have %v, want the run's queue and a lower class", labels)
			}
			if left := helper.Spec.ActiveDeadlineSeconds; left == nil || *left >= 3600 || *left <= 0 {
				t.Errorf("its deadline is %v, want what remains of an hour", left)
			}
			if got := s.extra(run, 3); got.code != http.StatusUnprocessableEntity {
				t.Errorf("more than allowed: %d %s", got.code, got.body)
			}

			s.wantExtra(run, 1)
			is := s.waitTasks(run, status.Stopped, "fit.fit-extra-1")
			if got := is.Tasks["fit.fit-extra-0"].Phase; got != status.Running {
				t.Errorf("the lower one is %s", got)
			}
			s.wantExtra(run, 2)
			s.waitTasks(run, status.Running, "fit.fit-extra-0", "fit.fit-extra-1")

			s.end(end, run)
			s.waitPhase(run, "Failed")
			s.waitTasks(run, status.Stopped, "fit.fit-extra-0", "fit.fit-extra-1")
			s.eventually("no pod of the run or its helpers is left", func() error {
				if diff := cmp.Diff([]string(nil), s.openPods(run)); diff != "" {
					return fmt.Errorf("%s", diff)
				}
				return nil
			})
			if got := s.extra(run, 1); got.code != http.StatusConflict {
				t.Errorf("extra of a run that has ended: %d %s", got.code, got.body)
			}
		})
	}
}

// holdFirst is held by its first attempt for ever; the next one succeeds.
const holdFirst = "test $RUNHOOK_ATTEMPT = 0 || exit 0; " + hold

// letGo ends what is held, once Argo would notice.
func (s *site) letGo(run string, workers ...string) {
	s.Helper()
	for _, worker := range workers {
		s.settled(run, "fit-"+worker+"(0)")
	}
	for _, worker := range workers {
		must(s, s.kube.CoreV1().Pods(namespace).DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{
			LabelSelector: "workflows.argoproj.io/workflow=" + run + ",runhook/worker=" + worker,
		}))
	}
}

// Nobody calls extra: the watch's leader adds the helpers when the task begins,
// and takes them back when its workers are done, while its merge goes on.
func TestHelpersComeWithTheTaskAndGoWithItsWorkers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "priority": "normal", "tasks": []any{
		task("fit", holdOnce, cpu("50m"), retry(0), map[string]any{"split": map[string]any{
			"workers": 2, "extra": 2, "merge": map[string]any{"command": []string{"sh", "-c", holdFirst}, "resources": cpu("50m")["resources"]},
		}}),
	}})
	s.waitTasks(run, status.Running, "fit.fit-0", "fit.fit-1", "fit.fit-extra-0", "fit.fit-extra-1")
	s.letGo(run, "0", "1")
	s.waitTasks(run, status.Stopped, "fit.fit-extra-0", "fit.fit-extra-1")
	is := s.waitTasks(run, status.Running, "fit.fit-merge")
	if is.Phase != status.Running || is.Tasks["fit"].Phase != status.Running || *is.Tasks["fit"].Done != 2 {
		t.Errorf("while it merges the run is %s, its task %+v", is.Phase, is.Tasks["fit"])
	}
	s.eventually("the helpers hold nothing", func() error {
		if open := s.openPods(run); len(open) != 1 {
			return fmt.Errorf("there are %v", open)
		}
		return nil
	})
	if got := s.extra(run, 1); got.code != http.StatusConflict {
		t.Errorf("extra while the task merges: %d %s", got.code, got.body)
	}
	s.letGo(run, "merge")
	s.waitPhase(run, "Succeeded")
	if is = s.status(run); is.Phase != status.Succeeded || is.Tasks["fit.fit-extra-1"].Phase != status.Stopped {
		t.Errorf("at the end the run is %s, a helper %s", is.Phase, is.Tasks["fit.fit-extra-1"].Phase)
	}
}
