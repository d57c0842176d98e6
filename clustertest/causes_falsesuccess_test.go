//go:build cluster

package clustertest

import (
	"context"
	"testing"

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
	pod := r.waitBegun()
	finalizers := func(list string) error {
		patch := `{"metadata": {"finalizers": ` + list + `}}`
		_, err := r.kube.CoreV1().Pods(namespace).Patch(context.Background(), pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	t.Cleanup(func() {
		r.eventually("the pod may go", func() error {
			if err := finalizers("null"); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			return nil
		})
	})
	must(r.site, finalizers(`["test.example/kept"]`))
	r.outranked()
	r.waitEnd()
	must(r.site, finalizers("null"))
	r.wantEnds(status.Succeeded, status.Attempt{
		Phase: status.Succeeded, Cause: cause.Preempted, Reason: "WorkloadEvictedDueToPreempted", ExitCode: new(0), Interrupted: true,
	})
}
