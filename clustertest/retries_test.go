//go:build cluster

package clustertest

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// allocate fills 128 MiB of memory, and lets the executor's share in.
const allocate = "dd if=/dev/zero of=/dev/null bs=128M count=1 2>/dev/null"

func retry(failures int) map[string]any {
	return map[string]any{"retry": map[string]any{"failures": failures, "backoff": "1s"}}
}

// wantFailed checks the failed attempts of a task: a cause and an exit code each.
func (s *site) wantFailed(run, key string, want cause.Cause, codes ...int) {
	s.Helper()
	attempts := s.status(run).Attempts[key]
	if len(attempts) != len(codes) {
		s.Fatalf("%s has %d failed attempts, want %d: %+v", key, len(attempts), len(codes), attempts)
	}
	for i, a := range attempts {
		if a.Attempt != i || a.Phase != status.Failed || a.Cause != want || a.Interrupted || a.OOM != (want == cause.OOM) ||
			a.ExitCode == nil || *a.ExitCode != codes[i] || a.Pod == "" || a.Host == "" || a.Started == nil || a.Ended == nil {
			s.Errorf("attempt %d of %s: %+v, want cause %s and exit code %d", i, key, a, want, codes[i])
		}
	}
}

func TestWorkerKilledForMemoryComesBackWithMore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("fit", "test $RUNHOOK_WORKER = 1 || exec "+allocate, map[string]any{
			"resources": map[string]any{"memory": "64Mi"}, "maxMemory": "512Mi", "split": map[string]any{"workers": 2},
		}, retry(0)),
	}})
	s.waitPhase(run, "Succeeded")
	s.wantFailed(run, "fit-0", cause.OOM, 137)
	s.wantFailed(run, "fit-1", cause.None)
	pod, err := s.podOf(run, "fit") // the newest
	must(s, err)
	want := resource.MustParse("512Mi")
	for _, container := range pod.Spec.Containers {
		if got := container.Resources; container.Name == "main" && (!got.Limits.Memory().Equal(want) || !got.Requests.Memory().Equal(want)) {
			t.Errorf("the second attempt got %+v", got)
		}
	}
}

func TestWorkerThatFailsTwiceIsRetried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("fit", "test $RUNHOOK_WORKER = 1 || test $RUNHOOK_ATTEMPT = 2 || exit $((5 + RUNHOOK_ATTEMPT))", map[string]any{
			"split": map[string]any{"workers": 2, "merge": map[string]any{"command": []string{"true"}}},
		}, retry(3)),
	}})
	s.waitPhase(run, "Succeeded")
	s.wantFailed(run, "fit-0", cause.Application, 5, 6)
	s.wantFailed(run, "fit-1", cause.None)
}

func TestWorkerOverItsLimitsFailsTheRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		program map[string]any
		cause   cause.Cause
		codes   []int
	}{
		"failures":  {task("fit", "exit $((5 + RUNHOOK_ATTEMPT))", retry(2)), cause.Application, []int{5, 6, 7}},
		"memory":    {task("fit", "exec "+allocate, map[string]any{"resources": map[string]any{"memory": "64Mi"}}, retry(2)), cause.OOM, []int{137}},
		"no second": {task("fit", "exit 9"), cause.Application, []int{9}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			tc.program["split"] = map[string]any{"workers": 1, "merge": map[string]any{"command": []string{"true"}}}
			after := task("after", "true", map[string]any{"needs": []string{"fit"}})
			run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{tc.program, after}})
			s.waitPhase(run, "Failed")
			s.wantFailed(run, "fit-0", tc.cause, tc.codes...)
			is := s.status(run)
			for task, want := range map[string]status.Phase{"fit": status.Failed, "fit.fit-0": status.Failed} {
				if got := is.Tasks[task].Phase; got != want {
					t.Errorf("%s is %s, want %s", task, got, want)
				}
			}
			for _, task := range []string{"fit.fit-merge", "after"} {
				if got := is.Tasks[task].Phase; got != status.Skipped && got != status.Stopped {
					t.Errorf("%s is %s, and can never have run", task, got)
				}
			}
			if is.Phase != status.Failed {
				t.Errorf("the run is %s", is.Phase)
			}
		})
	}
}
