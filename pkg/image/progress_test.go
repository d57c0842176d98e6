package image

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	written  = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	older    = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	metadata = `{"containerimage.config.digest": "sha256:33", "containerimage.digest": "` + written + `", "image.name": "reg.lab:5000/x:1"}`
)

func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{Status: batchv1.JobStatus{Conditions: conditions}}
}

func condition(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}

func pod(name string, phase corev1.PodPhase, created int64, state corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(created, 0))},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "sidecar", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: `{"containerimage.digest": "` + older + `"}`}}},
			{Name: "build", State: state},
		}},
	}
}

func ended(message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}
}

func TestProgressOf(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	noImage := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}
	killed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}
	complete := condition(batchv1.JobComplete, "CompletionsReached", "")
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want Progress
	}{
		"no pod":             {job(), nil, Progress{Phase: Pending}},
		"suspended":          {job(condition(batchv1.JobSuspended, "JobSuspended", "Job suspended")), nil, Progress{Phase: Pending}},
		"starting":           {job(), []corev1.Pod{pod("a", corev1.PodPending, 1, corev1.ContainerState{})}, Progress{Phase: Pending, Pod: "a"}},
		"image missing":      {job(), []corev1.Pod{pod("a", corev1.PodPending, 1, noImage)}, Progress{Phase: Pending, Pod: "a", Message: "ErrImagePull: not found"}},
		"running":            {job(), []corev1.Pod{pod("a", corev1.PodRunning, 1, running)}, Progress{Phase: Building, Pod: "a"}},
		"resumed":            {job(batchv1.JobCondition{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}), []corev1.Pod{pod("a", corev1.PodRunning, 1, running)}, Progress{Phase: Building, Pod: "a"}},
		"not yet counted":    {job(), []corev1.Pod{pod("a", corev1.PodSucceeded, 1, ended(metadata))}, Progress{Phase: Building, Pod: "a"}},
		"again after a loss": {job(), []corev1.Pod{pod("b", corev1.PodPending, 2, corev1.ContainerState{}), pod("a", corev1.PodFailed, 1, ended(""))}, Progress{Phase: Pending, Pod: "b"}},
		"about to fail":      {job(condition(batchv1.JobFailureTarget, "BackoffLimitExceeded", "x")), []corev1.Pod{pod("a", corev1.PodFailed, 1, ended(""))}, Progress{Phase: Building, Pod: "a"}},
		"complete":           {job(complete), []corev1.Pod{pod("a", corev1.PodSucceeded, 1, ended(metadata))}, Progress{Phase: Succeeded, Pod: "a", Digest: written}},
		"says nothing":       {job(complete), []corev1.Pod{pod("a", corev1.PodSucceeded, 1, ended(""))}, Progress{Phase: Succeeded, Pod: "a", Silent: true}},
		"says nonsense":      {job(complete), []corev1.Pod{pod("a", corev1.PodSucceeded, 1, ended(`{"containerimage.digest": 7}`))}, Progress{Phase: Succeeded, Pod: "a", Silent: true}},
		"its end not seen":   {job(complete), []corev1.Pod{pod("a", corev1.PodRunning, 1, running)}, Progress{Phase: Succeeded, Pod: "a"}},
		"complete, pod gone": {job(complete), nil, Progress{Phase: Succeeded}},
		"failed":             {job(condition(batchv1.JobFailed, "BackoffLimitExceeded", "limit reached")), []corev1.Pod{pod("a", corev1.PodFailed, 1, ended(""))}, Progress{Phase: Failed, Pod: "a", Message: "limit reached"}},
		"failed by itself":   {job(condition(batchv1.JobFailed, "BackoffLimitExceeded", "limit reached")), []corev1.Pod{pod("a", corev1.PodFailed, 1, killed)}, Progress{Phase: Failed, Pod: "a", Message: "buildctl ended with exit code 137 (OOMKilled)"}},
		"failed by a rule":   {job(condition(batchv1.JobFailed, "PodFailurePolicy", "rule 0")), nil, Progress{Phase: Failed, Message: "rule 0"}},
		"deadline":           {job(condition(batchv1.JobFailed, "DeadlineExceeded", "active too long")), nil, Progress{Phase: TimedOut, Message: "active too long"}},
	} {
		if diff := cmp.Diff(tc.want, ProgressOf(tc.job, tc.pods)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOnlyTheRegistryProvesABuild(t *testing.T) {
	complete := Progress{Phase: Succeeded, Digest: written, Pod: "a"}
	for name, tc := range map[string]struct {
		progress Progress
		shown    string
		exists   bool
		want     Phase
		message  string
	}{
		"shown":               {complete, written, true, Succeeded, ""},
		"no such tag":         {complete, "", false, Failed, "image not found"},
		"an older image":      {complete, older, true, Failed, older},
		"nothing was written": {Progress{Phase: Succeeded, Pod: "a"}, older, true, Failed, "without saying"},
		"still building":      {Progress{Phase: Building}, written, true, Building, ""},
		"timed out":           {Progress{Phase: TimedOut}, written, true, TimedOut, ""},
	} {
		got := tc.progress.Confirm(tc.shown, tc.exists)
		if got.Phase != tc.want || !strings.Contains(got.Message, tc.message) {
			t.Errorf("%s: %+v, want %s: %s", name, got, tc.want, tc.message)
		}
		if got.Pod != tc.progress.Pod {
			t.Errorf("%s: the pod with the log is lost", name)
		}
	}
}

// Whatever a container leaves behind, it is a digest or none.
func FuzzPushed(f *testing.F) {
	f.Add(metadata)
	f.Fuzz(func(_ *testing.T, message string) {
		p := pod("a", corev1.PodSucceeded, 1, ended(message))
		Pushed(&p)
	})
}
