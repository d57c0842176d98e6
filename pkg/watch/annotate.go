package watch

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
)

// WorkflowMetadata gives a Workflow's annotations and version as they are now.
func (c *Clients) WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	m, err := c.metadata.Resource(workflowVersion.WithResource("workflows")).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
	return m, faultOf(err, name)
}

// Annotate sets an annotation of a Workflow under its version. Only metadata
// is answered: a Workflow with a thousand workers is a megabyte.
func (c *Clients) Annotate(ctx context.Context, name, resourceVersion, key, value string) error {
	patch, err := mergePatch(resourceVersion, key, value)
	if err != nil {
		return err
	}
	_, err = c.metadata.Resource(workflowVersion.WithResource("workflows")).Namespace(c.namespace).
		Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return faultOf(err, name)
}

func faultOf(err error, name string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		return fault.Wrap(fault.NotFound, err, "workflow %s does not exist", name)
	case apierrors.IsConflict(err):
		return fault.Wrap(fault.Conflict, err, "workflow %s was changed by somebody else at the same time", name)
	default:
		return fault.Wrap(fault.Unavailable, err, "the evidence on workflow %s cannot be written: %v", name, err)
	}
}
