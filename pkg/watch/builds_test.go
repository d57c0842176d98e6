package watch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
)

// site is a cluster with one build.
type site struct {
	job  *batchv1.Job
	pods []corev1.Pod
}

func (s *site) Job(name string) *batchv1.Job {
	if s.job == nil || s.job.Name != name {
		return nil
	}
	return s.job
}

func (s *site) Jobs() []*batchv1.Job {
	if s.job == nil {
		return nil
	}
	return []*batchv1.Job{s.job}
}

func (s *site) BuildPods(string) []corev1.Pod { return s.pods }

var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newSite() *site {
	return &site{job: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: "build-1", UID: "job", CreationTimestamp: metav1.NewTime(began), Labels: map[string]string{image.BuildLabel: "build-1"},
		Annotations: map[string]string{image.RefAnnotation: "r/x:1", owner.Annotation: "ci"},
	}}}
}

// pod shows the build's pod as the cache would hold it.
func (s *site) pod(t *testing.T, phase corev1.PodPhase, state corev1.ContainerState) {
	t.Helper()
	slim, err := trimPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{image.BuildLabel: "build-1"}, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "batch/v1", Kind: "Job", Name: "build-1", UID: "job", Controller: new(true)},
		}},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "build", State: state}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.pods = []corev1.Pod{*slim.(*corev1.Pod)}
}

func (s *site) runs(t *testing.T) {
	t.Helper()
	s.pod(t, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began)}})
}

func (s *site) pushes(t *testing.T) {
	t.Helper()
	s.pod(t, corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		StartedAt: metav1.NewTime(began), Message: `{"containerimage.digest": "sha256:1"}`,
	}})
}

func (s *site) ends(kind batchv1.JobConditionType) {
	s.job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: "True", LastTransitionTime: metav1.NewTime(began.Add(time.Minute))}}
}

type buildReplica struct {
	*builds
	sink, stream *sent
	metrics      *metrics.Metrics
}

func newBuildReplica(on *site, now time.Time) *buildReplica {
	r := &buildReplica{sink: &sent{}, stream: &sent{}, metrics: metrics.New("test", nil, nil)}
	r.builds = &builds{
		cache: on, outlets: outlets{[]Sink{r.sink}, r.stream}, source: "/namespaces/runs", again: func(string) {}, now: func() time.Time { return now },
		metrics: metrics.NewWatch(r.metrics, event.Types(), func() []metrics.RunState { return nil }),
	}
	return r
}

// look is what a turn tells the sinks and the stream.
func (r *buildReplica) look(t *testing.T) (sinks, stream []string) {
	t.Helper()
	if err := r.builds.look(t.Context(), "build-1"); err != nil {
		t.Fatal(err)
	}
	return r.sink.types(), r.stream.types()
}

func TestABuildFromBeginningToEnd(t *testing.T) {
	on := newSite()
	leader, other := newBuildReplica(on, began), newBuildReplica(on, began)
	leader.lead(true)
	leader.resend = nil // it is a new build
	for i, step := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"build.pending"}},
		{func() { on.runs(t) }, []string{"build.building"}},
		{func() { on.ends(batchv1.JobComplete) }, nil}, // what it pushed is seen a moment later
		{func() { on.pushes(t) }, []string{"build.succeeded"}},
		{func() {}, nil},
	} {
		step.change()
		told, shown := leader.look(t)
		if diff := cmp.Diff(step.want, told); diff != "" {
			t.Errorf("step %d, sinks: %s", i, diff)
		}
		if diff := cmp.Diff(step.want, shown); diff != "" {
			t.Errorf("step %d, the stream: %s", i, diff)
		}
		told, shown = other.look(t)
		if diff := cmp.Diff(step.want, shown); diff != "" || told != nil {
			t.Errorf("step %d, who does not lead told %v, and showed: %s", i, told, diff)
		}
	}
	want := map[string]float64{`runhook_builds_total{result="Succeeded"}`: 1, `runhook_build_seconds_count{result="Succeeded"}`: 1}
	if diff := cmp.Diff(want, counted(t, leader.metrics)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]float64{}, counted(t, other.metrics)); diff != "" {
		t.Errorf("who does not lead counts: %s", diff)
	}
}

// A new leader tells again of the last minutes, of nothing older, and counts none.
func TestATakeoverDuringBuilds(t *testing.T) {
	on := newSite()
	on.pushes(t)
	on.ends(batchv1.JobComplete)
	for name, tc := range map[string]struct {
		now  time.Time
		want []string
	}{
		"soon": {began.Add(2 * time.Minute), []string{"build.pending", "build.building", "build.succeeded"}},
		"late": {began.Add(time.Hour), nil},
	} {
		r := newBuildReplica(on, tc.now)
		r.inherit(on.job)
		r.lead(true)
		told, shown := r.look(t)
		if diff := cmp.Diff(tc.want, told); diff != "" || shown != nil {
			t.Errorf("%s: it showed %v and told: %s", name, shown, diff)
		}
		if got := counted(t, r.metrics); len(got) > 0 {
			t.Errorf("%s: counted %v", name, got)
		}
		if present := len(r.present()); present != len(tc.want) {
			t.Errorf("%s: the present state has %d events", name, present)
		}
	}
}

func TestABuildThatIsDeletedIsForgotten(t *testing.T) {
	on := newSite()
	r := newBuildReplica(on, began)
	r.lead(true)
	r.look(t)
	job := on.job
	on.job = nil
	r.lose(job)
	if told, shown := r.look(t); told != nil || shown != nil || len(r.told) > 0 {
		t.Errorf("told %v, showed %v, remembers %v", told, shown, r.told)
	}
}

func TestWhoMaySeeABuild(t *testing.T) {
	of := ownerOf(newSite().job)
	for who, want := range map[string]bool{"ci": true, "cd": false, "": false} {
		if got := owner.MaySee(function.Caller{Name: who}, of, owner.ForeignNone); got != want {
			t.Errorf("%q may see it: %t", who, got)
		}
	}
}

// The arguments of a build may be secrets, and none is held.
func TestTrimJob(t *testing.T) {
	job := newSite().job
	job.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--opt", "build-arg:TOKEN=secret"}}}
	job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	slim, err := trimJob(job)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(newSite().job, slim); diff != "" {
		t.Error(diff)
	}
}
