package watch

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
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
			Labels:      trimLabels(pod.Labels),
			Annotations: map[string]string{cause.NodeAnnotation: pod.Annotations[cause.NodeAnnotation]},
		},
		Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message,
			Conditions:            pod.Status.Conditions,
			InitContainerStatuses: trimContainers(pod.Status.InitContainerStatuses, false),
			ContainerStatuses:     trimContainers(pod.Status.ContainerStatuses, pod.Labels[image.BuildLabel] != ""),
		},
	}
	return slim, nil
}

// trimJob leaves of a build's Job what its events read. Its arguments are not.
func trimJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, UID: job.UID, ResourceVersion: job.ResourceVersion,
			CreationTimestamp: job.CreationTimestamp, Labels: trimLabels(job.Labels),
			Annotations: map[string]string{
				image.RefAnnotation: job.Annotations[image.RefAnnotation], owner.Annotation: job.Annotations[owner.Annotation],
			},
		},
		Status: batchv1.JobStatus{Conditions: job.Status.Conditions},
	}, nil
}

func trimLabels(labels map[string]string) map[string]string {
	slim := map[string]string{}
	for _, key := range []string{cause.WorkflowLabel, image.BuildLabel} {
		if value := labels[key]; value != "" {
			slim[key] = value
		}
	}
	return slim
}

// trimContainers leaves what a build's container said when it ended; any
// other's message is Argo's own copy of a program's outputs, up to 4 KiB.
func trimContainers(containers []corev1.ContainerStatus, builds bool) []corev1.ContainerStatus {
	slim := make([]corev1.ContainerStatus, len(containers))
	for i, c := range containers {
		slim[i] = corev1.ContainerStatus{Name: c.Name, State: c.State}
		if t := c.State.Terminated; t != nil {
			slim[i].State.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Reason: t.Reason, StartedAt: t.StartedAt, FinishedAt: t.FinishedAt}
			if builds {
				slim[i].State.Terminated.Message = t.Message
			}
		}
	}
	return slim
}
