//go:build cluster

package clustertest

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// outranked lets a pod of high priority, which is nobody's run, into the queue:
// Kueue makes room for it. It stays until it is taken back.
func (r *trial) outranked() (takeBack func()) {
	r.Helper()
	pod := r.bystander(namespace, corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("16Mi")})
	pod.Labels = map[string]string{"kueue.x-k8s.io/queue-name": r.queue, "kueue.x-k8s.io/priority-class": "high"}
	return r.create(pod)
}

// bystander is a pod of no run.
func (r *trial) bystander(namespace string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: r.run + "-bystander", Namespace: namespace},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(bool),
			Containers: []corev1.Container{{
				Name: "hold", Image: busybox, Command: []string{"sh", "-c", hold},
				Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests},
			}},
		},
	}
}

// create makes a pod, and gives what deletes it and waits until it is gone.
func (r *trial) create(pod *corev1.Pod) (remove func()) {
	r.Helper()
	pods := r.kube.CoreV1().Pods(pod.Namespace)
	_, err := pods.Create(r.Context(), pod, metav1.CreateOptions{})
	must(r.site, err)
	remove = func() {
		r.eventually("pod "+pod.Name+" is gone", func() error {
			if err := pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
				return errors.Join(errors.New("it is still there"), err)
			}
			return nil
		})
	}
	r.Cleanup(remove)
	return remove
}

func (r *trial) localQueue() dynamic.ResourceInterface {
	return r.queues("localqueues").Namespace(namespace)
}

func (r *trial) clusterQueue() dynamic.ResourceInterface { return r.queues("clusterqueues") }

func (r *trial) queues(kind string) dynamic.NamespaceableResourceInterface {
	r.Helper()
	client, err := dynamic.NewForConfig(r.config)
	must(r.site, err)
	return client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: kind})
}

// stopQueue evicts what the queue has admitted, and admits nothing more.
func (r *trial) stopQueue(queues dynamic.ResourceInterface) (goOn func()) {
	r.Helper()
	policy := func(is string) error {
		patch := fmt.Appendf(nil, `{"spec": {"stopPolicy": %q}}`, is)
		_, err := queues.Patch(context.Background(), r.queue, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	goOn = func() { r.eventually("queue "+r.queue+" goes on", func() error { return policy("None") }) }
	r.Cleanup(goOn)
	must(r.site, policy("HoldAndDrain"))
	return goOn
}
