package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/runhook/runhook/localcluster/layout"
)

// queues are the product's example queues. They are applied on every call, so
// that a run of tests always starts from the same.
func queues() Component {
	// Kueue's webhook answers a little later than its pod is ready, so applying is tried again.
	begin := func(ctx context.Context, c *Cluster) error {
		ctx, cancel := context.WithTimeout(ctx, podPatience)
		defer cancel()
		for {
			err := applyQueues(ctx, c)
			if err == nil {
				return nil
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(poll):
			}
		}
	}
	return Component{
		Name: "queues", Needs: []string{"kueue", "argo-workflows"}, Patience: patience,
		Start: begin, Ready: queuesReady,
	}
}

// applyQueues applies the product's folder; a checkout without it has no queues.
func applyQueues(ctx context.Context, c *Cluster) error {
	dir := c.Home.Manifests("kueue-example")
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	_, err := kubectl(ctx, c, "", "apply", "--server-side", "--force-conflicts", "-k", dir)
	return err
}

// queuesReady is nil when Kueue takes pods into every queue of the runs' namespace.
func queuesReady(ctx context.Context, c *Cluster) error {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
	}
	if err := get(ctx, c, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+layout.RunsNamespace+"/localqueues", &list); err != nil {
		return err
	}
	for _, queue := range list.Items {
		for _, condition := range queue.Status.Conditions {
			if condition.Type == "Active" && condition.Status != "True" {
				return fmt.Errorf("queue %s is not active: %s", queue.Metadata.Name, condition.Message)
			}
		}
	}
	return nil
}
