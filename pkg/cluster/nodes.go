package cluster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cenkalti/backoff/v5"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
)

// ChangeNode reads a node, lets change alter it, and writes what it altered
// under the version that was read: all of it or nothing. Where somebody else
// wrote in between it reads and asks again, within the context's time. Nothing
// is written when change reports false or an error.
func (c *Cluster) ChangeNode(ctx context.Context, name string, change func(*corev1.Node) (bool, error)) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = 10*time.Millisecond, 500*time.Millisecond
	for {
		err := c.changeNodeOnce(ctx, name, change)
		if !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			busy := fault.Wrap(fault.Unavailable, err, "node %s is changed by others again and again: nothing was written", name)
			busy.RetryAfter = retryAfter
			return busy
		case <-time.After(waits.NextBackOff()):
		}
	}
}

func (c *Cluster) changeNodeOnce(ctx context.Context, name string, change func(*corev1.Node) (bool, error)) error {
	node, err := c.Node(ctx, name)
	if err != nil {
		return err
	}
	changed := node.DeepCopy()
	if write, err := change(changed); err != nil || !write {
		return err
	}
	patch, err := guardedPatch(node, changed)
	if err != nil {
		return err
	}
	_, err = c.kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return faultOf(err, "node "+name)
}

// guardedPatch says the difference between two states of a node, and the
// version of the first. A whole update would erase the fields that a newer API
// server has and these types have not.
func guardedPatch(before, after *corev1.Node) ([]byte, error) {
	versionless := before.DeepCopy()
	versionless.ResourceVersion = ""
	was, err := json.Marshal(versionless)
	if err != nil {
		return nil, err
	}
	// Seen from there the version is a difference too, so the patch has it.
	is, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(was, is)
}
