package component

import (
	"context"
	"fmt"
)

// deployment makes the component of a controller that runs as a pod.
func deployment(name string, needs []string, namespace, deploymentName string, start func(context.Context, *Cluster) error) Component {
	return Component{
		Name: name, Patience: podPatience,
		Needs: append([]string{"apiserver"}, needs...), // its pod may wait for the nodes
		Start: start,
		Ready: available(namespace, deploymentName),
		Explain: func(ctx context.Context, c *Cluster) error {
			return explain(ctx, c, name, namespace)
		},
	}
}

// available is ready when a Deployment's current version is.
func available(namespace, name string) func(context.Context, *Cluster) error {
	return func(ctx context.Context, c *Cluster) error {
		var d struct {
			Metadata struct{ Generation int64 }
			Status   struct {
				ObservedGeneration                 int64
				UpdatedReplicas, AvailableReplicas int
			}
		}
		if err := get(ctx, c, "/apis/apps/v1/namespaces/"+namespace+"/deployments/"+name, &d); err != nil {
			return err
		}
		if d.Status.ObservedGeneration < d.Metadata.Generation || d.Status.UpdatedReplicas < 1 || d.Status.AvailableReplicas < 1 {
			return fmt.Errorf("Deployment %s/%s has %d pods available", namespace, name, d.Status.AvailableReplicas)
		}
		return nil
	}
}

// explain writes what is known of a namespace's pods to the component's log.
func explain(ctx context.Context, c *Cluster, name, namespace string) error {
	log, err := openLog(c, name)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, args := range [][]string{
		{"describe", "pods", "--namespace", namespace},
		{"logs", "--namespace", namespace, "--selector", "", "--tail=100", "--prefix"},
	} {
		out, err := kubectl(ctx, c, "", args...)
		if err != nil {
			out = err.Error()
		}
		if _, err := fmt.Fprintln(log, out); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	return nil
}
