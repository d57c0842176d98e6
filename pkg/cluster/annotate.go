package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/runhook/runhook/pkg/fault"
)

// Annotate sets an annotation of a Workflow under its version. A Conflict is
// one of versions and nothing else: who writes tries again then.
func (c *Cluster) Annotate(ctx context.Context, name, resourceVersion, key, value string) error {
	err := c.patchWorkflow(ctx, name, annotation("resourceVersion", resourceVersion, key, value))
	if told := faultOf(err, "run "+name); fault.KindOf(told) != fault.Conflict || apierrors.IsConflict(err) {
		return told
	}
	return fault.Wrap(fault.Unavailable, err, "the evidence on run %s cannot be written: %v", name, err)
}

// AnnotateWorkflow sets an annotation of a Workflow whatever its version, if it
// is still the one with the UID: of an annotation that nobody else writes.
func (c *Cluster) AnnotateWorkflow(ctx context.Context, name, uid, key, value string) error {
	return faultOf(c.patchWorkflow(ctx, name, annotation("uid", uid, key, value)), "run "+name)
}

// annotation is a change that is refused unless one more field is as it says.
func annotation(field, is, key, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{field: is, "annotations": map[string]string{key: value}}}
}
