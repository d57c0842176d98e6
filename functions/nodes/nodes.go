// Package nodes answers what each worker node has left for a planner and for
// the scheduler, and for which run it is kept.
package nodes

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/function"
)

// Cluster is what nodes reads of the cluster.
type Cluster interface {
	EachNode(ctx context.Context, selector string, visit func(*corev1.Node)) error
	EachBoundPod(ctx context.Context, visit func(*corev1.Pod)) error
}

// Request asks for all of them.
type Request struct{}

// New makes the function.
func New(cluster Cluster, settings capacity.Settings) function.Function {
	return function.Function{
		Name:    "nodes",
		Summary: "tells what each worker node has left, and for which run it is kept",
		Access: []function.Access{
			{Resource: "nodes", Verbs: []string{"list"}, Cluster: true},
			{Resource: "pods", Verbs: []string{"list"}, Cluster: true},
		},
		Reads:    true,
		Request:  Request{},
		Response: capacity.Nodes{},
		Handle: function.Typed(func(ctx context.Context, _ function.Call, _ Request) (function.Response, error) {
			answer, err := count(ctx, cluster, settings)
			return function.Response{Status: http.StatusOK, Body: answer}, err
		}),
	}
}

// count reads the nodes first: pods of other nodes are then dropped as they come.
func count(ctx context.Context, cluster Cluster, settings capacity.Settings) (capacity.Nodes, error) {
	tally := capacity.NewTally(settings)
	if err := cluster.EachNode(ctx, settings.Workers.String(), tally.AddNode); err != nil {
		return capacity.Nodes{}, err
	}
	if err := cluster.EachBoundPod(ctx, tally.AddPod); err != nil {
		return capacity.Nodes{}, err
	}
	return tally.Nodes(), nil
}
