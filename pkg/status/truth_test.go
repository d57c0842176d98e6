package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

// The phases of every recorded snapshot, from the Workflow alone.
func TestPhasesOfEveryRecordedSnapshot(t *testing.T) {
	var truth []struct {
		Case, File, Run string
		Phase           *status.Phase // null: not told
		Tasks           map[string]status.Phase
	}
	recorded.Truth(t, "status-truth.json", &truth)
	if len(truth) != 128 {
		t.Fatalf("%d snapshots, want 128", len(truth))
	}
	for _, want := range truth {
		t.Run(want.Case+"/"+want.File+"/"+want.Run, func(t *testing.T) {
			got := status.Of(recorded.Read(t, want.Case).Workflow(t, want.File, want.Run), nil, nil)
			if want.Phase != nil && got.Phase != *want.Phase {
				t.Errorf("phase %s, want %s", got.Phase, *want.Phase)
			}
			phases := map[string]status.Phase{}
			for name, task := range got.Tasks {
				// The truth leaves a group out while its items run.
				if _, told := want.Tasks[name]; !told && task.Of != nil {
					continue
				}
				phases[name] = task.Phase
			}
			if diff := cmp.Diff(want.Tasks, phases); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
		})
	}
}

type causeTruth struct {
	Case, Name, Workflow string
	Pods                 []string
	Attempts             map[string]cause.Cause
	SilentRestarts       map[string][]cause.Cause
}

// Every cause is found from the pods of all moments at once, and equally from
// the evidence that a watch gathered, after the pods are gone.
func TestCausesOfEveryRecordedCase(t *testing.T) {
	var truth map[string]causeTruth
	recorded.Truth(t, "truth.json", &truth)
	for name, want := range truth {
		t.Run(name, func(t *testing.T) {
			m := recorded.Read(t, want.Case)
			w := m.Workflow(t, want.Workflow, want.Name)
			var pods []corev1.Pod
			var evidence cause.Evidence
			for _, file := range want.Pods {
				for _, pod := range m.Pods(t, file) {
					pods = append(pods, pod)
					if pod.Labels[cause.WorkflowLabel] == want.Name {
						evidence.Observe(&pod)
					}
				}
			}
			compareCauses(t, "from pods", want, status.Attempts(w, pods))

			text, err := evidence.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if w.Metadata.Annotations == nil {
				w.Metadata.Annotations = map[string]string{}
			}
			w.Metadata.Annotations[cause.Annotation] = text
			compareCauses(t, "from evidence", want, status.Attempts(w, nil))
		})
	}
}

func compareCauses(t *testing.T, source string, want causeTruth, attempts []status.Attempt) {
	t.Helper()
	ended, silent := map[string]cause.Cause{}, map[string][]cause.Cause{}
	for _, a := range attempts {
		switch {
		case a.Restarted:
			silent[a.Node] = append(silent[a.Node], a.Cause)
			if a.UID == "" {
				t.Errorf("%s: %s restarted without a UID", source, a.Node)
			}
		case a.Phase != status.Succeeded || a.Interrupted:
			ended[a.Node] = a.Cause
		case a.Cause != cause.None:
			t.Errorf("%s: %s succeeded with cause %s", source, a.Node, a.Cause)
		}
	}
	if want.SilentRestarts == nil {
		want.SilentRestarts = map[string][]cause.Cause{}
	}
	if diff := cmp.Diff(want.Attempts, ended); diff != "" {
		t.Errorf("%s: attempts (-want +got):\n%s", source, diff)
	}
	if diff := cmp.Diff(want.SilentRestarts, silent); diff != "" {
		t.Errorf("%s: silent restarts (-want +got):\n%s", source, diff)
	}
}
