//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// TestAFalseSuccessIsTold preempts a program that gives exit code 0 when it is
// told to end. Its pod stays until Argo has seen that, as it does where Argo's
// own finalizer is on.
func TestAFalseSuccessIsTold(t *testing.T) {
	t.Parallel()
	r := newTrial(t)
	r.start(task("fit", "trap 'exit 0' TERM; echo "+begun+"; sleep 3600 & wait", cpu("100m")), nil)
	letGo := r.keep(r.waitBegun())
	r.outranked()
	r.waitEnd()
	letGo()
	r.wantEnds(status.Succeeded, status.Attempt{
		Phase: status.Succeeded, Cause: cause.Preempted, Reason: "WorkloadEvictedDueToPreempted", ExitCode: new(0), Interrupted: true,
	})
}

// keep keeps a pod that is deleted from being gone.
func (r *trial) keep(pod *corev1.Pod) (letGo func()) {
	r.Helper()
	patch := func(change string) error {
		_, err := r.kube.CoreV1().Pods(namespace).Patch(context.Background(), pod.Name, types.JSONPatchType, []byte(change), metav1.PatchOptions{})
		return err
	}
	const finalizer = "test.example/kept"
	letGo = func() {
		r.eventually("the pod may go", func() error {
			now, err := r.kube.CoreV1().Pods(namespace).Get(context.Background(), pod.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) || err == nil && now.UID != pod.UID {
				return nil
			}
			if err != nil {
				return err
			}
			for i, name := range now.Finalizers {
				if name == finalizer {
					return patch(fmt.Sprintf(`[{"op": "test", "path": "/metadata/finalizers/%d", "value": %q}, {"op": "remove", "path": "/metadata/finalizers/%d"}]`, i, finalizer, i))
				}
			}
			return nil
		})
	}
	r.Cleanup(letGo)
	must(r.site, patch(`[{"op": "add", "path": "/metadata/finalizers/-", "value": "`+finalizer+`"}]`))
	return letGo
}
