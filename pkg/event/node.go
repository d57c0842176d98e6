package event

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/status"
)

// OfNode gives those events of Of that concern one of Argo's pod nodes: of its
// attempts, of the tasks that it is part of, and of the run.
func OfNode(w *status.Workflow, pods []corev1.Pod, source, node string) []Event {
	task := taskOf(w, node)
	helper := w.Metadata.Labels[argo.ExtraOfLabel] != "" // its events name one task
	return slices.DeleteFunc(Of(w, pods, source), func(e Event) bool {
		if e.Attempt != nil {
			return e.Attempt.NodeID != node
		}
		_, about, isTask := strings.Cut(e.Subject(), "/")
		return isTask && !helper && !within(task, about)
	})
}

// taskOf is the task that a pod node belongs to.
func taskOf(w *status.Workflow, node string) string {
	for _, a := range status.AllAttempts(w, nil) {
		if a.NodeID == node {
			return a.Task
		}
	}
	return ""
}
