package placements

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

func pod(namespace, run, name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			Labels:      map[string]string{"runhook/run": run, "runhook/task": "fit", "runhook/worker": "2"},
			Annotations: map[string]string{"workflows.argoproj.io/node-name": run + ".fit.fit-2(3)"},
		},
		Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
		}}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

type cluster struct {
	pods  []*corev1.Pod
	lists int // of Workflows
	fault error
}

func (c *cluster) EachPodWithLabel(_ context.Context, _ string, visit func(*corev1.Pod)) error {
	for _, pod := range c.pods {
		visit(pod)
	}
	return nil
}

func (c *cluster) EachWorkflow(_ context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	c.lists++
	if selector != "runhook/run" {
		return fault.New(fault.Internal, "asked for %s", selector)
	}
	for run, caller := range map[string]string{"mine": "ci", "theirs": "cd"} {
		visit(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name:        run,
			Labels:      map[string]string{owner.RunLabel: "x"},
			Annotations: map[string]string{owner.Annotation: caller},
		}})
	}
	return c.fault
}

func placements(t *testing.T, c *cluster, caller function.Caller, foreign owner.Foreign) ([]Placement, error) {
	t.Helper()
	settings := Settings{capacity.Settings{RunLabel: "runhook/run"}, "runs", foreign}
	response, err := New(c, settings).Handle(t.Context(), function.Call{Caller: caller, Body: json.RawMessage(`{}`)})
	if err != nil {
		return nil, err
	}
	return response.Body.(Response).Placements, nil
}

func TestWhoSeesWhichPods(t *testing.T) {
	c := &cluster{pods: []*corev1.Pod{
		pod("runs", "theirs", "b", corev1.PodPending),
		pod("runs", "mine", "a", corev1.PodRunning),
		pod("runs", "mine", "done", corev1.PodSucceeded),
		pod("runs", "foreign", "c", corev1.PodRunning),
		pod("elsewhere", "mine", "d", corev1.PodRunning),
	}}
	for name, tc := range map[string]struct {
		caller  function.Caller
		foreign owner.Foreign
		want    []string
		lists   int
	}{
		"own":                      {function.Caller{Name: "ci"}, owner.ForeignRead, []string{"a"}, 1},
		"none":                     {function.Caller{Name: "nobody"}, owner.ForeignRead, []string{}, 1},
		"all":                      {function.Caller{Name: "ops", AllRuns: true}, owner.ForeignRead, []string{"c", "a", "d", "b"}, 0},
		"all, but no foreign ones": {function.Caller{Name: "ops", AllRuns: true}, owner.ForeignNone, []string{"a", "b"}, 1},
		"a hook":                   {function.Caller{Name: "hook:acme/train", Everything: true}, owner.ForeignRead, []string{"c", "a", "d", "b"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.lists = 0
			got, err := placements(t, c, tc.caller, tc.foreign)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{}
			for _, p := range got {
				names = append(names, p.Pod)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if c.lists != tc.lists {
				t.Errorf("%d lists of Workflows, want %d", c.lists, tc.lists)
			}
		})
	}
}

func TestPlacement(t *testing.T) {
	c := &cluster{pods: []*corev1.Pod{pod("runs", "mine", "a", corev1.PodRunning)}}
	unsplit := pod("runs", "mine", "b", corev1.PodPending)
	delete(unsplit.Labels, "runhook/worker")
	unsplit.Annotations = nil
	unsplit.Spec.NodeName = ""
	merge := pod("runs", "mine", "c", corev1.PodRunning)
	merge.Labels["runhook/worker"] = "merge"
	merge.Annotations = nil
	c.pods = append(c.pods, merge, unsplit)
	got, err := placements(t, c, function.Caller{Name: "ci"}, owner.ForeignRead)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"run":"mine","task":"fit","worker":2,"attempt":3,"pod":"a","node":"n1","phase":"Running","cores":0.25,"memoryGiB":0.5},` +
		`{"run":"mine","task":"fit","worker":null,"attempt":0,"pod":"b","node":"","phase":"Pending","cores":0.25,"memoryGiB":0.5},` +
		`{"run":"mine","task":"fit-merge","worker":null,"attempt":0,"pod":"c","node":"n1","phase":"Running","cores":0.25,"memoryGiB":0.5}]`
	if diff := cmp.Diff(want, string(encoded)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestWithoutTheRunsNobodyIsShownAny(t *testing.T) {
	c := &cluster{pods: []*corev1.Pod{pod("runs", "mine", "a", corev1.PodRunning)}, fault: fault.New(fault.Unavailable, "away")}
	if got, err := placements(t, c, function.Caller{Name: "ci"}, owner.ForeignRead); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAttemptOf(t *testing.T) {
	for name, want := range map[string]int{
		"run.fit(0)": 0, "run.fit.fit-2(13)": 13, "run.fetch": 0, "": 0, "run.fan(0:a)(4)": 4,
		"run.fan(0:a)": 0, "run.fit(-1)": 0, "run.fit(x": 0, "(": 0,
	} {
		if got := attemptOf(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}
