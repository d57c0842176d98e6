package component

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// controller is a Deployment of one pod, and where that answers.
type controller struct{ namespace, name, health string }

// deployment makes the component of a controller that runs as a pod. It needs
// no node to start: its pod waits for one, and meanwhile its objects are applied.
func deployment(name string, needs []string, which controller, start func(context.Context, *Cluster) error) Component {
	return Component{
		Name: name, Needs: append([]string{"apiserver"}, needs...), Patience: podPatience,
		Start: start,
		Ready: which.ready,
		Explain: func(ctx context.Context, c *Cluster) error {
			return explain(ctx, c, name, which.namespace)
		},
	}
}

// ready asks the pod itself: after a crash the API server believes for a while
// what was true before.
func (d controller) ready(ctx context.Context, c *Cluster) error {
	var deployment struct {
		Metadata struct{ Generation int64 }
		Status   struct {
			ObservedGeneration                 int64
			UpdatedReplicas, AvailableReplicas int
		}
		Spec struct {
			Selector struct{ MatchLabels map[string]string }
		}
	}
	if err := get(ctx, c, "/apis/apps/v1/namespaces/"+d.namespace+"/deployments/"+d.name, &deployment); err != nil {
		return err
	}
	status := deployment.Status
	if status.ObservedGeneration < deployment.Metadata.Generation || status.UpdatedReplicas < 1 || status.AvailableReplicas < 1 {
		return fmt.Errorf("deployment %s/%s has %d pods available", d.namespace, d.name, status.AvailableReplicas)
	}
	return d.podAnswers(ctx, c, deployment.Spec.Selector.MatchLabels)
}

func (d controller) podAnswers(ctx context.Context, c *Cluster, labels map[string]string) error {
	selector := ""
	for key, value := range labels {
		selector += "," + key + "=" + value
	}
	var pods struct {
		Items []struct {
			Status struct{ PodIP string }
		}
	}
	path := "/api/v1/namespaces/" + d.namespace + "/pods?labelSelector=" + url.QueryEscape(selector[1:])
	if err := get(ctx, c, path, &pods); err != nil {
		return err
	}
	err := errors.New("it has no pod")
	for _, pod := range pods.Items {
		if err = answers200("http://"+pod.Status.PodIP+d.health)(ctx, c); err == nil {
			return nil
		}
	}
	return err
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
