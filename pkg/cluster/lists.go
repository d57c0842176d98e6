package cluster

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/runhook/runhook/pkg/limits"
)

// What asks for Workflows without specs and states: one with a thousand workers
// is a megabyte, its metadata a kilobyte.
const (
	objectMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	listMetadata   = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// notTerminated selects pods that still hold something of a node.
var notTerminated = fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
)

// EachNode visits every node that a label selector matches, page by page.
func (c *Cluster) EachNode(ctx context.Context, selector string, visit func(*corev1.Node)) error {
	return each(ctx, "the nodes", metav1.ListOptions{LabelSelector: selector}, c.kube.CoreV1().Nodes().List, visit)
}

// EachBoundPod visits every pod of the cluster that is bound to a node and has
// not terminated, page by page.
func (c *Cluster) EachBoundPod(ctx context.Context, visit func(*corev1.Pod)) error {
	bound := fields.AndSelectors(notTerminated, fields.OneTermNotEqualSelector("spec.nodeName", ""))
	return each(ctx, "the pods", metav1.ListOptions{FieldSelector: bound.String()}, c.kube.CoreV1().Pods(metav1.NamespaceAll).List, visit)
}

// EachPodWithLabel visits every pod of the cluster that has a label and has not
// terminated, page by page.
func (c *Cluster) EachPodWithLabel(ctx context.Context, label string, visit func(*corev1.Pod)) error {
	options := metav1.ListOptions{LabelSelector: label, FieldSelector: notTerminated.String()}
	return each(ctx, "the pods of runs", options, c.kube.CoreV1().Pods(metav1.NamespaceAll).List, visit)
}

// EachWorkflow visits the name, labels and annotations of every Workflow that a
// label selector matches, page by page.
func (c *Cluster) EachWorkflow(ctx context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	list := func(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		raw, err := c.argo.ArgoprojV1alpha1().RESTClient().Get().
			Namespace(c.namespace).Resource("workflows").
			VersionedParams(&options, metav1.ParameterCodec).
			SetHeader("Accept", listMetadata).DoRaw(ctx)
		if err != nil {
			return nil, err
		}
		var page metav1.PartialObjectMetadataList
		return &page, json.Unmarshal(raw, &page)
	}
	return each(ctx, "the runs", metav1.ListOptions{LabelSelector: selector}, list, visit)
}

// WorkflowMetadata gives the labels and annotations of a Workflow.
func (c *Cluster) WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	raw, err := c.argo.ArgoprojV1alpha1().RESTClient().Get().
		Namespace(c.namespace).Resource("workflows").Name(name).
		SetHeader("Accept", objectMetadata).DoRaw(ctx)
	if err != nil {
		return nil, faultOf(err, "run "+name)
	}
	metadata := &metav1.PartialObjectMetadata{}
	return metadata, faultOf(json.Unmarshal(raw, metadata), "run "+name)
}

// each visits the objects of a list without keeping more than a few pages. A
// list that expires between two pages fails: the same call later succeeds.
func each[List runtime.Object, Object any](
	ctx context.Context, what string, options metav1.ListOptions,
	list func(context.Context, metav1.ListOptions) (List, error),
	visit func(*Object),
) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return list(ctx, options)
	})
	pages.PageSize = limits.Page
	// One page is decoded while the one before it is looked at.
	pages.PageBufferSize = 1
	return faultOf(pages.EachListItem(ctx, options, func(object runtime.Object) error {
		visit(any(object).(*Object))
		return nil
	}), what)
}
