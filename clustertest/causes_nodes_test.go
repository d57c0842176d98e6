//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/status"
)

func pinned(node string) map[string]any { return map[string]any{"nodes": []string{node}} }

// reserve reserves the pod's node for another run.
func reserve(r *trial, pod *corev1.Pod) (unreserve func()) {
	r.Helper()
	reservation := map[string]any{"node": pod.Spec.NodeName, "run": unique(r.T)}
	unreserve = sync.OnceFunc(func() {
		r.eventually("the node is given back", func() error {
			if got := r.call("planner-token", "unreserve", reservation); got.code != http.StatusOK {
				return fmt.Errorf("%d %s", got.code, got.body)
			}
			return nil
		})
	})
	r.Cleanup(unreserve)
	if got := r.call("planner-token", "reserve", reservation); got.code != http.StatusOK {
		r.Fatalf("reserve answered %d: %s", got.code, got.body)
	}
	return unreserve
}

// loseKubelet kills the kubelet of the pod's node. The cluster takes 50 s to
// believe it; the pod alone does not tolerate that for 5 minutes, and stays as
// it is until there is a kubelet that ends it.
func loseKubelet(r *trial, pod *corev1.Pod) func() {
	r.Helper()
	for i := range pod.Spec.Tolerations {
		if pod.Spec.Tolerations[i].TolerationSeconds != nil {
			pod.Spec.Tolerations[i].TolerationSeconds = new(int64(1))
		}
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"tolerations": pod.Spec.Tolerations}})
	must(r.site, err)
	_, err = r.kube.CoreV1().Pods(namespace).Patch(r.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	must(r.site, err)
	// Nobody else repairs the cluster meanwhile.
	lock, err := lockFile(filepath.Join(env(r.T, "RUNHOOK_CLUSTER_STATE"), "../lock"), syscall.LOCK_EX)
	must(r.site, err)
	repair := sync.OnceFunc(func() {
		lock.Close()
		r.eventually("the cluster is repaired", func() error {
			out, err := exec.Command(filepath.Join(root, "bin/localcluster"), "up").CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	})
	r.Cleanup(repair)
	must(r.site, r.process(pod.Spec.NodeName+"-kubelet").Signal(os.Kill))
	r.eventually("the pod waits for its node", func() error {
		is := r.status(r.run)
		if w := is.Tasks["fit"].Waiting; w == nil || *w != (status.Waiting{Reason: status.NodeLost, Detail: pod.Spec.NodeName}) {
			return fmt.Errorf("it is %+v, and waits for %+v", is.Tasks["fit"], w)
		}
		if is.Phase != status.Running || len(is.Attempts["fit"]) > 0 {
			r.Errorf("while its node is lost the run is %s, with attempts %+v", is.Phase, is.Attempts)
		}
		return nil
	})
	repair()
	return nothing
}

func nothing() {}
