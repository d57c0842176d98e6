//go:build cluster

package clustertest

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// TestWhatArgoStartsAgainSilentlyIsTold preempts pods so early that Argo makes
// another of the same name, and no attempt of it.
func TestWhatArgoStartsAgainSilentlyIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fit     map[string]any
		preempt func(*trial)
	}{
		"no node takes it yet": {
			fit: map[string]any{"resources": map[string]any{"cpu": "100m", "memory": "64Mi", "test.example/absent": "1"}},
			preempt: func(r *trial) {
				r.waitWaiting(status.Unschedulable)
				r.outranked()
			},
		},
		"no node takes it yet, and it is collected": {
			fit: map[string]any{"resources": map[string]any{"cpu": "100m", "memory": "64Mi", "test.example/absent": "1"}},
			preempt: func(r *trial) {
				r.waitWaiting(status.Unschedulable)
				pod, err := r.podOf(r.run, "fit")
				must(r.site, err)
				letGo := r.keep(pod)
				r.outranked()
				r.waitEnd()
				letGo()
			},
		},
		// Argo would see the exit code of one that ends in order.
		"its program has just begun": {
			preempt: func(r *trial) {
				pod := r.waitBegun()
				r.outranked()
				r.removeByForce(pod)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t)
			r.start(task("fit", "trap '' TERM; echo "+begun+"; sleep 3600", cpu("100m"), c.fit), nil)
			c.preempt(r)
			r.waitEnd()
			r.waitTasks(r.run, status.Preempted, "fit")
			r.waitWaiting(status.Queued)
			silent, attempt := r.silentlyRestarted(), 1
			if silent {
				attempt = 0
			}
			r.cancel(r.run)
			r.wantEnds(status.Stopped, status.Attempt{
				Phase: status.Failed, Cause: cause.Preempted, Reason: "WorkloadEvictedDueToPreempted", Interrupted: true, Restarted: silent,
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

// removeByForce removes a pod as soon as it is to end.
func (r *trial) removeByForce(pod *corev1.Pod) {
	r.Helper()
	pods := r.kube.CoreV1().Pods(namespace)
	r.eventually("the preempted pod is removed", func() error {
		now, err := pods.Get(r.Context(), pod.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && now.UID != pod.UID:
			return nil
		case err == nil && now.DeletionTimestamp == nil:
			err = errors.New("it goes on")
		case err == nil:
			err = pods.Delete(r.Context(), pod.Name, metav1.DeleteOptions{
				GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
			})
		}
		return err
	})
}

// silentlyRestarted reports whether Argo knows of one attempt only. On a busy
// machine a pod may be older than 10 s when it has just begun, and one that no
// node takes may be failed by the garbage collector of pods before it is gone.
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
