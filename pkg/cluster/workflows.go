package cluster

import (
	"context"
	"encoding/json"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CreateWorkflow creates a Workflow, or lets the API server check it only. A
// name that is taken is a Conflict.
func (c *Cluster) CreateWorkflow(ctx context.Context, workflow *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error) {
	options := metav1.CreateOptions{}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	created, err := c.argo.ArgoprojV1alpha1().Workflows(c.namespace).Create(ctx, workflow, options)
	return created, faultOf(err, "workflow "+workflow.Name)
}

// Workflow gives a Workflow as the API server wrote it: who reads it decodes
// only what it needs.
func (c *Cluster) Workflow(ctx context.Context, name string) ([]byte, error) {
	raw, err := c.argo.ArgoprojV1alpha1().RESTClient().Get().
		Namespace(c.namespace).Resource("workflows").Name(name).DoRaw(ctx)
	return raw, faultOf(err, "run "+name)
}

// Workflows gives the list of Workflows with all of these labels, as the API
// server wrote it.
func (c *Cluster) Workflows(ctx context.Context, labels map[string]string) ([]byte, error) {
	raw, err := c.argo.ArgoprojV1alpha1().RESTClient().Get().
		Namespace(c.namespace).Resource("workflows").
		Param("labelSelector", metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})).DoRaw(ctx)
	return raw, faultOf(err, "runs")
}

// ShutdownWorkflow tells Argo to end a Workflow.
func (c *Cluster) ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error {
	return faultOf(c.patchWorkflow(ctx, name, map[string]any{"spec": map[string]any{"shutdown": strategy}}), "run "+name)
}

// patchWorkflow merges a change into a Workflow. Only metadata is answered: a
// Workflow with a thousand workers is a megabyte, and a foreign one may hold what
// takes for ever to decode.
func (c *Cluster) patchWorkflow(ctx context.Context, name string, change map[string]any) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return c.argo.ArgoprojV1alpha1().RESTClient().Patch(types.MergePatchType).
		Namespace(c.namespace).Resource("workflows").Name(name).
		SetHeader("Accept", objectMetadata).Body(patch).Do(ctx).Error()
}

// DeleteWorkflow deletes a Workflow, if it is still that one. It is gone when
// its pods are: another of its name would take them for its own.
func (c *Cluster) DeleteWorkflow(ctx context.Context, name, uid string) error {
	options := metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationForeground),
		Preconditions:     &metav1.Preconditions{UID: new(types.UID(uid))},
	}
	return faultOf(c.argo.ArgoprojV1alpha1().Workflows(c.namespace).Delete(ctx, name, options), "run "+name)
}

// Pod gives one pod.
func (c *Cluster) Pod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, name, metav1.GetOptions{})
	return pod, faultOf(err, "pod "+name)
}

// Pods gives the pods with all of these labels that are still there.
func (c *Cluster) Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error) {
	list, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels}),
	})
	if err != nil {
		return nil, faultOf(err, "the pods of a run")
	}
	return list.Items, nil
}
