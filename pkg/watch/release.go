package watch

import (
	"context"
	"errors"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/capacity"
)

// Nodes are the nodes of the cluster.
type Nodes interface {
	EachNode(ctx context.Context, selector string, visit func(*corev1.Node)) error
	ChangeNode(ctx context.Context, name string, change func(*corev1.Node) (bool, error)) error
}

// releaser gives the nodes back that were kept for a run.
type releaser struct {
	nodes    Nodes
	capacity capacity.Settings
	log      *slog.Logger
}

// releaseRun gives the nodes of a run that has ended back to all.
func (r releaser) releaseRun(ctx context.Context, run string) error {
	if len(validation.IsValidLabelValue(run)) > 0 {
		return nil // no node can be reserved for it
	}
	return r.release(ctx, r.capacity.Reservation+"="+run, func(name string) bool { return name == run })
}

// release gives back the selected nodes that are kept for runs that have ended.
// Doing it again is harmless; a node that was reserved for another run
// meanwhile stays so.
func (r releaser) release(ctx context.Context, selector string, ended func(run string) bool) error {
	kept := map[string]string{}
	err := r.nodes.EachNode(ctx, selector, func(node *corev1.Node) {
		if run := node.Labels[r.capacity.Reservation]; ended(run) {
			kept[node.Name] = run
		}
	})
	if err != nil {
		return err
	}
	var failed error
	for name, run := range kept {
		changed := false
		err := r.nodes.ChangeNode(ctx, name, func(node *corev1.Node) (bool, error) {
			changed = r.capacity.Unreserve(node, run)
			return changed, nil
		})
		failed = errors.Join(failed, err)
		if err == nil && changed {
			r.log.Info("a node is free again: its run has ended", "run", run, "node", name)
		}
	}
	return failed
}
