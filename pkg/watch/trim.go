package watch

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
)

// trimWorkflow leaves the annotations to the state, which may give them up, and
// of a Workflow that ended long ago only what the gauges show. What goes on is
// decoded slim already.
func trimWorkflow(now func() time.Time) func(any) (any, error) {
	return func(object any) (any, error) {
		w, ok := object.(*workflow)
		if !ok {
			return object, nil
		}
		w.Annotations = nil
		if settled(w.state(), now()) {
			w.giveUp()
		}
		return w, nil
	}
}

// giveUp drops what nothing will be sent about any more.
func (w *workflow) giveUp() {
	state := *w.state()
	state.Spec = status.Spec{Shutdown: state.Spec.Shutdown}
	state.Status.Nodes, state.Status.StoredTemplates, state.Status.StoredSpec = nil, nil, nil
	state.Metadata.Annotations = nil
	w.held.Store(&state)
}

// settled reports whether a run ended so long ago that nothing is sent about it.
func settled(w *status.Workflow, now time.Time) bool {
	return !w.Status.FinishedAt.IsZero() && w.Status.FinishedAt.Before(now.Add(-limits.EventReplay))
}

// trimPod leaves of a pod what evidence and status read.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			DeletionGracePeriodSeconds: pod.DeletionGracePeriodSeconds, OwnerReferences: pod.OwnerReferences,
			Labels:      map[string]string{cause.WorkflowLabel: pod.Labels[cause.WorkflowLabel]},
			Annotations: map[string]string{cause.NodeAnnotation: pod.Annotations[cause.NodeAnnotation]},
		},
		Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message,
			Conditions:            pod.Status.Conditions,
			InitContainerStatuses: trimContainers(pod.Status.InitContainerStatuses),
			ContainerStatuses:     trimContainers(pod.Status.ContainerStatuses),
		},
	}
	return slim, nil
}

func trimContainers(containers []corev1.ContainerStatus) []corev1.ContainerStatus {
	slim := make([]corev1.ContainerStatus, len(containers))
	for i, c := range containers {
		slim[i] = corev1.ContainerStatus{Name: c.Name, State: c.State}
		if t := c.State.Terminated; t != nil {
			// The message is Argo's own copy of a program's outputs, up to 4 KiB.
			slim[i].State.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Reason: t.Reason, FinishedAt: t.FinishedAt}
		}
	}
	return slim
}
