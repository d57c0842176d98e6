//go:build cluster

package clustertest

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// status asks runhook where a run stands.
func (s *site) status(run string) status.Status {
	s.Helper()
	got := s.call("demo-token", "status", map[string]any{"run": run})
	if got.code != http.StatusOK {
		s.Fatalf("status answered %d: %s", got.code, got.body)
	}
	var is status.Status
	got.decode(s.T, &is)
	return is
}

// waitTasks waits until each of the tasks is in a phase, and gives the status
// that said so.
func (s *site) waitTasks(run string, want status.Phase, tasks ...string) status.Status {
	s.Helper()
	var is status.Status
	s.eventually(fmt.Sprintf("%v of run %s are %s", tasks, run, want), func() error {
		is = s.status(run)
		for _, task := range tasks {
			if got := is.Tasks[task]; got.Phase != want {
				return fmt.Errorf("task %s is %+v", task, got)
			}
		}
		return nil
	})
	return is
}

// silent is how young a node may be for Argo to start its vanished pod again
// under the same name, without an attempt that failed (10 s), and a second.
const silent = 11 * time.Second

// settled waits until an attempt has run for so long that Argo counts its
// interruption. The attempt is named as Argo does: fit(0).
func (s *site) settled(run, attempt string) {
	s.Helper()
	s.eventually("attempt "+attempt+" of run "+run+" has run for a while", func() error {
		workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, node := range workflow.Status.Nodes {
			if node.DisplayName != attempt {
				continue
			}
			if node.Phase == "Running" && time.Since(node.StartedAt.Time) > silent {
				return nil
			}
			return fmt.Errorf("%s since %s: %s", node.Phase, node.StartedAt, node.Message)
		}
		return fmt.Errorf("the run is %s", workflow.Status.Phase)
	})
}

// wantPreempted waits until the failed attempts of a task or worker are as many
// as asked for, each of them proven to be preempted.
func (s *site) wantPreempted(run, key string, attempts int) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s of run %s was preempted %d times", key, run, attempts), func() error {
		failed := s.status(run).Attempts[key]
		if len(failed) != attempts {
			return fmt.Errorf("%d attempts: %+v", len(failed), failed)
		}
		for i, a := range failed {
			if a.Attempt != i || a.Cause != cause.Preempted || !a.Interrupted {
				return fmt.Errorf("attempt %d reads %+v", i, a)
			}
		}
		return nil
	})
}
