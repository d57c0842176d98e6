//go:build cluster

package clustertest

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// TestWhatASensorSeesIsRecorded deletes a pod by hand, then ends its run: each
// trigger of the Sensor calls record, which takes it. What it writes the watch
// may have written before.
func TestWhatASensorSeesIsRecorded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.beside(argoEvents)
	s.subscribed("runhook-record")
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{task("fit", hold, cpu("50m"), retry(0))}})
	pod := s.runningPod(run, "fit")

	const taken = `runhook_requests_total{code="200",function="record"}`
	acted, answered := s.acted("runhook-record"), s.countedBy("runhook", taken)
	must(s, s.kube.CoreV1().Pods(namespace).Delete(s.Context(), pod.Name, metav1.DeleteOptions{}))
	s.eventually("the deletion is kept", func() error {
		workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		if err != nil {
			return err
		}
		evidence, err := cause.Decode(workflow.Annotations[cause.Annotation])
		if err != nil {
			return err
		}
		for _, entry := range evidence.Entries() {
			if entry.UID == string(pod.UID) && !entry.Deleted.IsZero() {
				return nil
			}
		}
		return fmt.Errorf("of %s only this: %+v", pod.UID, evidence.Entries())
	})
	s.cancel(run)
	for _, trigger := range []string{"ending", "deleted", "workflow"} {
		s.eventually("the trigger "+trigger+" has called record", func() error {
			if now := s.acted("runhook-record")[trigger]; now <= acted[trigger] {
				return fmt.Errorf("it has acted %d times, as before", now)
			}
			return nil
		})
	}
	s.eventually("record has taken what it was called with", func() error {
		if now := s.countedBy("runhook", taken); now <= answered {
			return fmt.Errorf("it has taken %d, and %d before", now, answered)
		}
		return nil
	})
}

var actions = regexp.MustCompile(`(?m)^argo_events_action_triggered_total\{.*trigger_name="([^"]+)"\} (\d+)$`)

// acted counts for each trigger of a Sensor how often it has called with success.
func (s *site) acted(sensor string) map[string]int {
	s.Helper()
	counts := map[string]int{}
	s.eventually("Sensor "+sensor+" says what it has done", func() error {
		pod, err := s.eventsPod("sensor-name=" + sensor)
		if err != nil {
			return err
		}
		text, err := s.kube.CoreV1().RESTClient().Get().Namespace(events).Resource("pods").Name(pod + ":7777").
			SubResource("proxy").Suffix("metrics").DoRaw(s.Context())
		if err != nil {
			return err
		}
		for _, match := range actions.FindAllSubmatch(text, -1) {
			if counts[string(match[1])], err = strconv.Atoi(string(match[2])); err != nil {
				return err
			}
		}
		return nil
	})
	return counts
}
