package capacity

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Request is what a pod takes of a node as the scheduler counts it.
func Request(pod *corev1.Pod) Amount {
	return AmountOf(resource.PodRequests(withDefaults(pod), resource.PodResourcesOptions{
		// A pod that was resized holds what the kubelet has granted it. Where
		// the feature is off the status is empty, and the spec counts.
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
}

// Terminated reports whether a pod holds nothing of its node any more. One that
// is being deleted does until its containers have ended.
func Terminated(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// withDefaults makes a limit without a request a request too, as the API server
// does when it stores a pod: a pod from a file may not have gone through it.
// The pod that is given stays as it is.
func withDefaults(pod *corev1.Pod) *corev1.Pod {
	if !lacksDefaults(&pod.Spec) {
		return pod
	}
	defaulted := *pod
	defaulted.Spec.Containers = containersWithDefaults(pod.Spec.Containers)
	defaulted.Spec.InitContainers = containersWithDefaults(pod.Spec.InitContainers)
	if pod.Spec.Resources != nil {
		whole := *pod.Spec.Resources
		defaulted.Spec.Resources = &whole
		// A limit of the pod stands for its request only where no container
		// asks for that resource.
		asked := resource.AggregateContainerRequests(&defaulted, resource.PodResourcesOptions{})
		maps.DeleteFunc(asked, func(name corev1.ResourceName, _ quantity) bool { return !resource.IsSupportedPodLevelResource(name) })
		whole.Requests = filled(filled(whole.Requests, asked), whole.Limits)
	}
	return &defaulted
}

func lacksDefaults(spec *corev1.PodSpec) bool {
	if spec.Resources != nil && lacks(spec.Resources.Requests, spec.Resources.Limits) {
		return true
	}
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			if lacks(containers[i].Resources.Requests, containers[i].Resources.Limits) {
				return true
			}
		}
	}
	return false
}

func lacks(requests, limits corev1.ResourceList) bool {
	for name := range limits {
		if _, ok := requests[name]; !ok {
			return true
		}
	}
	return false
}

func containersWithDefaults(containers []corev1.Container) []corev1.Container {
	defaulted := make([]corev1.Container, len(containers))
	for i, container := range containers {
		container.Resources.Requests = filled(container.Resources.Requests, container.Resources.Limits)
		defaulted[i] = container
	}
	return defaulted
}

// filled gives the requests with what they lack taken from another list.
func filled(requests, from corev1.ResourceList) corev1.ResourceList {
	all := make(corev1.ResourceList, len(requests)+len(from))
	maps.Copy(all, from)
	maps.Copy(all, requests)
	return all
}
