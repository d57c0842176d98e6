package component

import (
	"context"
	"fmt"
	"os"

	"github.com/runhook/runhook/localcluster/layout"
)

// queues are the product's example queues. They are applied on every call, so
// that a run of tests always starts from the same.
func queues() Component {
	var refused error
	applyQueues := func(ctx context.Context, c *Cluster) error {
		dir := c.Home.Manifests("kueue-example")
		if _, err := os.Stat(dir); err != nil {
			return nil // a checkout without them has no queues
		}
		_, err := kubectl(ctx, c, "", "apply", "--server-side", "--force-conflicts", "-k", dir)
		return err
	}
	return Component{
		Name: "queues", Needs: []string{"kueue", "argo-workflows"}, Patience: podPatience,
		// Kueue's webhook answers a little later than its Deployment is available: Ready tries again.
		Start: func(ctx context.Context, c *Cluster) error {
			refused = applyQueues(ctx, c)
			return nil
		},
		Ready: func(ctx context.Context, c *Cluster) error {
			if refused != nil {
				if refused = applyQueues(ctx, c); refused != nil {
					return fmt.Errorf("apply the example queues to namespace %s: %w", layout.RunsNamespace, refused)
				}
			}
			return nil
		},
	}
}
