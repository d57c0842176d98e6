// Package unreserve gives a node that was kept for a run back to all.
package unreserve

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/functions/reserve"
	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

// Request names the node and the run that it was kept for.
type Request struct {
	Node string `json:"node"`
	Run  string `json:"run"`
}

// Response says whether there was anything to take off.
type Response struct {
	Node    string `json:"node"`
	Run     string `json:"run"`
	Changed bool   `json:"changed"`
}

// New makes the function.
func New(cluster reserve.Cluster, settings reserve.Settings) function.Function {
	return function.Function{
		Name:    "unreserve",
		Summary: "gives a node that was kept for a run back to all",
		Access: []function.Access{
			{Resource: "nodes", Verbs: []string{"get", "patch"}, Cluster: true},
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get"}},
		},
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(check),
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			if err := reserve.Permit(ctx, cluster, settings, call.Caller, request.Node, request.Run); err != nil {
				return function.Response{}, err
			}
			response := Response{Node: request.Node, Run: request.Run}
			err := cluster.ChangeNode(ctx, request.Node, func(node *corev1.Node) (bool, error) {
				var err error
				response.Changed, err = apply(settings.Capacity, node, request.Run)
				return response.Changed, err
			})
			return function.Response{Status: http.StatusOK, Body: response}, err
		}),
	}
}

func check(request Request) error { return reserve.CheckNames(request.Node, request.Run) }

// apply is the rule, on the node as it is now. A node that has stopped being a
// worker can still be given back.
func apply(settings capacity.Settings, node *corev1.Node, run string) (changed bool, err error) {
	other := settings.ReservedFor(node)
	switch {
	case other != "" && other != run:
		return false, fault.New(fault.Conflict, "node %s is reserved for run %s", node.Name, other)
	case other == "" && !settings.IsWorker(node):
		return false, fault.New(fault.Invalid, "node %s is not a worker node: it has not the label %s", node.Name, settings.Workers)
	}
	return settings.Unreserve(node, run), nil
}
