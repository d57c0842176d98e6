//go:build cluster

package clustertest

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// preemptUnseen preempts the pod while there is no workflow controller: when it
// is back it finds that the pod is gone, and nothing else.
func preemptUnseen(r *trial, pod *corev1.Pod) (takeBack func()) {
	r.Helper()
	r.Cleanup(func() { r.controllers(1) })
	r.controllers(0)
	takeBack = r.outranked()
	r.eventually("the preempted pod is gone", func() error {
		_, err := r.kube.CoreV1().Pods(namespace).Get(r.Context(), pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
	r.controllers(1)
	return takeBack
}

// controllers sets how many workflow controllers there are.
func (s *site) controllers(n int) {
	s.Helper()
	s.eventually(fmt.Sprintf("there are %d workflow controllers", n), func() error {
		patch := fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, n)
		is, err := s.kube.AppsV1().Deployments("argo").Patch(context.Background(), "workflow-controller", types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
		// A Deployment does not count the pods that are still ending.
		pods, err := s.kube.CoreV1().Pods("argo").List(context.Background(), metav1.ListOptions{LabelSelector: "app=workflow-controller"})
		if err != nil {
			return err
		}
		if len(pods.Items) != n || int(is.Status.ReadyReplicas) != n {
			return fmt.Errorf("%d pods, %+v", len(pods.Items), is.Status)
		}
		return nil
	})
}
