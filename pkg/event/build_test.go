package event_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/status"
)

const (
	ref    = "registry.lab:5000/acme/pump:1"
	digest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	built  = `{"containerimage.digest": "` + digest + `"}`
)

var asked = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "build-1f3c", UID: "job-uid", CreationTimestamp: metav1.NewTime(asked), Annotations: map[string]string{image.RefAnnotation: ref},
		},
		Status: batchv1.JobStatus{Conditions: conditions},
	}
}

func ends(kind batchv1.JobConditionType, reason string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: "True", Reason: reason, Message: "as the Job says", LastTransitionTime: metav1.NewTime(asked.Add(time.Minute))}
}

// builder is the pod of a build, with a container of a name.
func builder(container string, phase corev1.PodPhase, state corev1.ContainerState) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{image.BuildLabel: "build-1f3c"}},
		Status:     corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: container, State: state}}},
	}
}

func exited(code int32, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Error", Message: message, StartedAt: metav1.NewTime(asked.Add(time.Second)),
	}}
}

func TestEventsOfABuild(t *testing.T) {
	complete := ends(batchv1.JobComplete, "CompletionsReached")
	waits := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(asked.Add(time.Second))}}
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want []string
	}{
		"made":              {job(), nil, []string{"pending"}},
		"waits":             {job(), []corev1.Pod{builder("build", corev1.PodPending, waits)}, []string{"pending ErrImagePull: not found"}},
		"builds":            {job(), []corev1.Pod{builder("build", corev1.PodRunning, runs)}, []string{"pending", "building"}},
		"pushed":            {job(complete), []corev1.Pod{builder("build", corev1.PodSucceeded, exited(0, built))}, []string{"pending", "building", "succeeded " + digest}},
		"says no digest":    {job(complete), []corev1.Pod{builder("build", corev1.PodSucceeded, exited(0, ""))}, []string{"pending", "building", "failed the build ended without saying what it pushed, or its pod is gone"}},
		"its end not seen":  {job(complete), []corev1.Pod{builder("build", corev1.PodRunning, runs)}, []string{"pending", "building"}},
		"the pod not seen":  {job(complete), nil, []string{"pending"}},
		"failed":            {job(ends(batchv1.JobFailed, "BackoffLimitExceeded")), []corev1.Pod{builder("build", corev1.PodFailed, exited(1, ""))}, []string{"pending", "building", "failed buildctl ended with exit code 1 (Error)"}},
		"too long":          {job(ends(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)), []corev1.Pod{builder("build", corev1.PodFailed, exited(137, ""))}, []string{"pending", "building", "timedout as the Job says"}},
		"too long, no pods": {job(ends(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)), nil, []string{"pending", "timedout as the Job says"}},
	} {
		var got []string
		before := time.Time{}
		for _, e := range event.OfBuild(tc.job, tc.pods, source) {
			if err := e.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var data event.Build
			if err := json.Unmarshal(e.Data(), &data); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*e.Build, data); diff != "" || data.Build != "build-1f3c" || data.Ref != ref || e.Subject() != "build-1f3c" || e.Source() != source {
				t.Errorf("%s: %s: %+v %s", name, e.Type(), data, diff)
			}
			if e.Happened().Before(before) {
				t.Errorf("%s: %s happened before what was before it", name, e.Type())
			}
			before = e.Happened()
			part := strings.TrimSuffix(strings.TrimPrefix(e.Type(), "runhook.build."), ".v1")
			got = append(got, strings.TrimSpace(part+" "+data.Digest+data.Message))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The ids stay while the build goes on, and are of this Job and phase alone.
func TestIDsOfABuild(t *testing.T) {
	early := ids(event.OfBuild(job(), nil, source))
	pods := []corev1.Pod{builder("build", corev1.PodSucceeded, exited(0, built))}
	late := ids(event.OfBuild(job(ends(batchv1.JobComplete, "")), pods, source))
	if early[0] != late[0] || len(slices.Compact(slices.Sorted(slices.Values(late)))) != 3 {
		t.Errorf("first %v, then %v", early, late)
	}
	again := job(ends(batchv1.JobComplete, ""))
	again.UID = "another"
	for _, id := range ids(event.OfBuild(again, pods, source)) {
		if slices.Contains(late, id) {
			t.Error("another Job of the same name has the same id")
		}
	}
}

// A run that builds its image has a task of that name, which is told of twice.
func TestEventsOfARunsBuild(t *testing.T) {
	node := func(name, kind, phase, message string, children ...string) *status.Node {
		n := &status.Node{ID: name, Name: name, Type: kind, Phase: phase, Message: message, Children: children, StartedAt: asked, Host: "node1"}
		if phase != "Running" && phase != "Pending" {
			n.FinishedAt = asked.Add(time.Minute)
		}
		return n
	}
	run := func(phase, message string) *status.Workflow {
		w := &status.Workflow{
			Metadata: status.Metadata{Name: "a", UID: "run-uid", CreationTimestamp: asked, Labels: map[string]string{"runhook/run": "a", image.BuildLabel: "build-1f3c"},
				Annotations: map[string]string{image.RefAnnotation: ref}},
			Status: status.State{Phase: "Running", Nodes: map[string]*status.Node{
				"a": node("a", "DAG", "Running", ""), "a.build": node("a.build", "Retry", phase, message, "a.build(0)"), "a.build(0)": node("a.build(0)", "Pod", phase, message),
			}},
		}
		for id, n := range w.Status.Nodes {
			if id != "a" {
				n.BoundaryID = "a"
			}
		}
		return w
	}
	for name, tc := range map[string]struct {
		run  *status.Workflow
		pods []corev1.Pod
		want []string
	}{
		"waits":    {run("Pending", ""), nil, []string{"pending"}},
		"builds":   {run("Running", ""), nil, []string{"pending", "building"}},
		"built":    {run("Succeeded", ""), []corev1.Pod{builder("main", corev1.PodSucceeded, exited(0, built))}, []string{"pending", "building", "succeeded " + digest}},
		"pod gone": {run("Succeeded", ""), nil, []string{"pending", "building", "succeeded"}},
		"failed":   {run("Failed", "Error (exit code 1)"), nil, []string{"pending", "building", "failed"}},
		"too long": {run("Failed", "Pod was active on the node longer than the specified deadline"), nil, []string{"pending", "building", "timedout"}},
	} {
		var got []string
		for _, e := range event.Of(tc.run, tc.pods, source) {
			if e.Build == nil {
				continue
			}
			if e.Subject() != "a/build" || e.Build.Run != "a" || e.Build.Build != "build-1f3c" || e.Build.Ref != ref || e.AboutRun() {
				t.Errorf("%s: %s of %s: %+v", name, e.Type(), e.Subject(), e.Build)
			}
			part := strings.TrimSuffix(strings.TrimPrefix(e.Type(), "runhook.build."), ".v1")
			got = append(got, strings.TrimSpace(part+" "+e.Build.Digest))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	unbuilt := run("Running", "")
	delete(unbuilt.Metadata.Labels, image.BuildLabel)
	for _, e := range event.Of(unbuilt, nil, source) {
		if e.Build != nil {
			t.Errorf("a task that is only called build gives %s", e.Type())
		}
	}
}
