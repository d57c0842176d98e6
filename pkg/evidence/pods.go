package evidence

import corev1 "k8s.io/api/core/v1"

// WorkflowUID is the Workflow that a pod belongs to, empty when it is none's:
// its name alone may have been another's before.
func WorkflowUID(pod *corev1.Pod) string {
	for _, o := range pod.OwnerReferences {
		if o.Kind == "Workflow" {
			return string(o.UID)
		}
	}
	return ""
}

// PodsOf leaves out the pods of another Workflow that had the name before.
func PodsOf(pods []corev1.Pod, workflow string) []corev1.Pod {
	var own []corev1.Pod
	for i := range pods {
		if WorkflowUID(&pods[i]) == workflow {
			own = append(own, pods[i])
		}
	}
	return own
}
