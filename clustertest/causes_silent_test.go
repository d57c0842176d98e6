//go:build cluster

package clustertest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// TestWhatArgoStartsAgainSilentlyIsTold preempts pods so early that Argo makes
// another of the same name, and no attempt of it.
func TestWhatArgoStartsAgainSilentlyIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fit map[string]any
		// ready waits until the pod is to be preempted, and gives the exit code of its program.
		ready func(*trial) *int
	}{
		"no node takes it yet": {
			map[string]any{"resources": map[string]any{"cpu": "100m", "memory": "64Mi", "test.example/absent": "1"}},
			func(r *trial) *int {
				r.waitWaiting(status.Unschedulable)
				return nil
			},
		},
		"its program has just begun": {
			nil,
			func(r *trial) *int {
				r.waitBegun()
				return new(143)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t)
			r.start(task("fit", "trap 'exit 143' TERM; echo "+begun+"; sleep 3600 & wait", cpu("100m"), c.fit), nil)
			code := c.ready(r)
			r.outranked()
			r.waitEnd()
			r.waitTasks(r.run, status.Preempted, "fit")
			r.waitWaiting(status.Queued)
			silent, attempt := r.silentlyRestarted(), 1
			if silent {
				attempt = 0
			} else if code == nil {
				t.Error("a pod that never ran is an attempt of Argo")
			}
			r.cancel(r.run)
			r.wantEnds(status.Stopped, status.Attempt{
				Phase: status.Failed, Cause: cause.Preempted, Reason: "WorkloadEvictedDueToPreempted", ExitCode: code, Interrupted: true, Restarted: silent,
			}, status.Attempt{Attempt: attempt, Phase: status.Stopped, Cause: cause.Stopped})
		})
	}
}

func (r *trial) waitWaiting(reason status.Reason) {
	r.Helper()
	r.eventually(fmt.Sprintf("the task waits: %s", reason), func() error {
		if waiting := r.status(r.run).Tasks["fit"].Waiting; waiting == nil || waiting.Reason != reason {
			return fmt.Errorf("it waits for %+v", waiting)
		}
		return nil
	})
}

// silentlyRestarted reports whether Argo knows of one attempt only. On a busy
// machine a pod may be older than 10 s when it has just begun.
func (r *trial) silentlyRestarted() bool {
	r.Helper()
	workflow, err := r.argo.ArgoprojV1alpha1().Workflows(namespace).Get(r.Context(), r.run, metav1.GetOptions{})
	must(r.site, err)
	attempts := 0
	for _, node := range workflow.Status.Nodes {
		if node.Type == "Pod" {
			attempts++
		}
	}
	return attempts == 1
}
