package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

func gated(gates ...string) corev1.Pod {
	pod := corev1.Pod{Status: corev1.PodStatus{
		Phase:      corev1.PodPending,
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated"}},
	}}
	for _, gate := range gates {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
	}
	return pod
}

// A gated pod leaves Argo's node Pending with an empty message.
func TestGatedPodIsQueuedOrGated(t *testing.T) {
	for name, c := range map[string]struct {
		gates []string
		want  status.Waiting
	}{
		"admission":   {[]string{"kueue.x-k8s.io/admission"}, status.Waiting{Reason: status.Queued, Detail: "kueue.x-k8s.io/admission"}},
		"topology":    {[]string{"kueue.x-k8s.io/topology"}, status.Waiting{Reason: status.Queued, Detail: "kueue.x-k8s.io/topology"}},
		"another":     {[]string{"example.com/hold"}, status.Waiting{Reason: status.Gated, Detail: "example.com/hold"}},
		"Kueue's too": {[]string{"example.com/hold", "kueue.x-k8s.io/admission"}, status.Waiting{Reason: status.Queued, Detail: "example.com/hold, kueue.x-k8s.io/admission"}},
	} {
		pod := gated(c.gates...)
		pod.Name = "w-205987851" // Argo's name for w.a
		got := status.Of(workflow(t, "Running", []node{
			{name: "w", kind: "DAG", phase: "Running"}, {name: "w.a", kind: "Pod", phase: "Pending", boundary: "w"}, {name: "w.b", kind: "Pod", phase: "Running", boundary: "w"},
		}, nil), nil, []corev1.Pod{pod})
		if diff := cmp.Diff(status.Task{Phase: status.Pending, Waiting: &c.want}, got.Tasks["a"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.Phase != status.Running {
			t.Errorf("%s: run %s, want Running: a task runs", name, got.Phase)
		}
	}
}

// A pod whose containers have just started waits for nothing any more, while
// Argo still calls its node Pending.
func TestAStartingPodKeepsTheDetailOfArgosCopy(t *testing.T) {
	pod := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
	pod.Name = "w-205987851" // Argo's name for w.a
	for message, want := range map[string]status.Waiting{
		"PodInitializing":          {Reason: status.Starting, Detail: "PodInitializing"},
		"Unschedulable: 0/3 nodes": {Reason: status.Starting}, // the pod knows better
	} {
		got := status.Of(workflow(t, "Running", []node{
			{name: "w", kind: "DAG", phase: "Running"}, {name: "w.a", kind: "Pod", phase: "Pending", boundary: "w", message: message},
		}, nil), nil, []corev1.Pod{pod}).Tasks["a"].Waiting
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", message, diff)
		}
	}
}

// What recorded pods and nodes wait for.
func TestWaitingOfRecordedCases(t *testing.T) {
	for name, c := range map[string]struct {
		snapshot, moment, run, task string
		pods                        bool
		phase                       status.Phase
		want                        status.Reason
	}{
		"gated":                 {"gated", "01-gated", "gate2", "a", true, status.Pending, status.Queued},
		"gated, Workflow alone": {"gated", "01-gated", "gate2", "a", false, status.Pending, ""},
		"image":                 {"imagepull", "03-plus12", "imagepull", "train", true, status.Pending, status.Image},
		"image, Workflow alone": {"imagepull", "03-plus12", "imagepull", "train", false, status.Pending, status.Image},
		"no node":               {"unschedulable", "03-plus8", "unschedulable", "train", true, status.Pending, status.Unschedulable},
		"no node, alone":        {"unschedulable", "03-plus8", "unschedulable", "train", false, status.Pending, status.Unschedulable},
		"starting, alone":       {"preempt-retry-always", "03-preempting2", "preempt-retry-always-hi", "urgent", false, status.Pending, status.Starting},
		"preempted":             {"preempt-retry-always", "05-after-gone", "preempt-retry-always-lo", "train", true, status.Preempted, status.Queued},
		"node lost":             {"node-lost-retry", "05-deleting40s", "node-lost-retry", "train", true, status.Running, status.NodeLost},
		"node not lost yet":     {"node-lost-retry", "02-killed20s", "node-lost-retry", "train", true, status.Running, ""},
		"tainted, node answers": {"taint", "03-acted", "taint", "train", true, status.Running, ""},
		"ended":                 {"success-dag", "03-after", "ok", "d", true, status.Succeeded, ""},
	} {
		m := recorded.Read(t, c.snapshot)
		var pods []corev1.Pod
		if c.pods {
			pods = m.Pods(t, c.moment+"-pods.json")
		}
		task := status.Of(m.Workflow(t, c.moment+"-wf.json", c.run), nil, pods).Tasks[c.task]
		var got status.Reason
		if task.Waiting != nil {
			got = task.Waiting.Reason
		}
		if got != c.want || task.Phase != c.phase {
			t.Errorf("%s: %s, waiting %q, want %s, %q", name, task.Phase, got, c.phase, c.want)
		}
	}
}

// Argo goes on calling a node Running whose pod Kueue preempted young: the new
// pod of the same name waits, and the old one is an attempt of its own.
func TestSilentRestartShowsAsPreempted(t *testing.T) {
	m := recorded.Read(t, "preempt-recent")
	pods := append(m.Pods(t, "02-preempting-pods.json"), m.Pods(t, "03-preempting2-pods.json")...)
	got := status.Of(m.Workflow(t, "03-preempting2-wf.json", "preempt-recent-lo"), nil, pods)
	task := got.Tasks["train"]
	if got.Phase != status.Preempted || task.Phase != status.Preempted || task.Waiting == nil || task.Waiting.Reason != status.Queued {
		t.Errorf("run %s, task %+v", got.Phase, task)
	}
	attempts := got.Attempts["train"]
	if len(attempts) != 1 || !attempts[0].Restarted || attempts[0].Cause != "preempted" || !attempts[0].Interrupted || *attempts[0].ExitCode != 143 {
		t.Errorf("attempts %+v", attempts)
	}
}

func TestPodWaiting(t *testing.T) {
	waits := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	for name, c := range map[string]struct {
		pod  corev1.PodStatus
		want status.Waiting
	}{
		"nothing known":        {corev1.PodStatus{}, status.Waiting{Reason: status.Starting}},
		"being made":           {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waits("ContainerCreating", "")}}, status.Waiting{Reason: status.Starting, Detail: "ContainerCreating"}},
		"image after others":   {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waits("ContainerCreating", ""), waits("ErrImagePull", "no")}}, status.Waiting{Reason: status.Image, Detail: "ErrImagePull: no"}},
		"image of an init":     {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{waits("InvalidImageName", "")}}, status.Waiting{Reason: status.Image, Detail: "InvalidImageName"}},
		"scheduler's other no": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulerError"}}}, status.Waiting{Reason: status.Starting}},
	} {
		if diff := cmp.Diff(&c.want, status.PodWaiting(&corev1.Pod{Status: c.pod})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSuspendedTaskSaysSo(t *testing.T) {
	got := status.Of(workflow(t, "Running", []node{{name: "w", kind: "DAG", phase: "Running"}, {name: "w.ok", kind: "Suspend", phase: "Running", boundary: "w"}}, nil), nil, nil)
	if w := got.Tasks["ok"].Waiting; w == nil || w.Reason != status.Suspended {
		t.Errorf("%+v", w)
	}
}
