package cluster

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
)

// Annotate sets an annotation of a Workflow under its version. Only metadata
// is answered: a Workflow with a thousand workers is a megabyte. A Conflict is
// one of versions and nothing else: who writes tries again then.
func (c *Cluster) Annotate(ctx context.Context, name, resourceVersion, key, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": resourceVersion, "annotations": map[string]string{key: value},
	}})
	if err != nil {
		return err
	}
	err = c.argo.ArgoprojV1alpha1().RESTClient().Patch(types.MergePatchType).
		Namespace(c.namespace).Resource("workflows").Name(name).
		SetHeader("Accept", objectMetadata).Body(patch).Do(ctx).Error()
	if told := faultOf(err, "run "+name); fault.KindOf(told) != fault.Conflict || apierrors.IsConflict(err) {
		return told
	}
	return fault.Wrap(fault.Unavailable, err, "the evidence on run %s cannot be written: %v", name, err)
}
