package submit

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/strict"
)

// checkPins refuses a pin to a node that does not run tasks: its pod would
// wait for ever.
func (s submitter) checkPins(ctx context.Context, asked *run.Run) error {
	key, value, _ := strings.Cut(s.settings.Options.Workers, "=")
	wrong := fault.List{}
	seen := map[string]string{} // what is wrong with a node; empty: nothing
	for i := range asked.Tasks {
		for j, name := range asked.Tasks[i].Nodes {
			problem, known := seen[name]
			if !known {
				var err error
				if problem, err = s.nodeProblem(ctx, name, key, value); err != nil {
					return err
				}
				seen[name] = problem
			}
			if problem != "" {
				wrong.Add(strict.Index(strict.Index("tasks", i)+".nodes", j), "%s", problem)
			}
		}
	}
	return wrong.Err(fault.Invalid, "the run is not acceptable")
}

func (s submitter) nodeProblem(ctx context.Context, name, key, value string) (string, error) {
	var node *corev1.Node
	node, err := s.cluster.Node(ctx, name)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "the cluster has no node " + name, nil
	case err != nil:
		return "", err
	case node.Labels[key] != value:
		return "the node " + name + " is no worker: it lacks the label " + key + "=" + value, nil
	}
	return "", nil
}
