// Package reserve keeps a node for a run: the pods of others have to leave it,
// and those of the run that ask for reserved nodes may come.
package reserve

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// Cluster is what reserve does on the cluster.
type Cluster interface {
	ChangeNode(ctx context.Context, name string, change func(*corev1.Node) (bool, error)) error
	WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error)
}

// Settings are the parts of the config that reserve follows.
type Settings struct {
	Capacity capacity.Settings
	Foreign  owner.Foreign
}

// Request names the node and the run, which need not exist yet.
type Request struct {
	Node string `json:"node"`
	Run  string `json:"run"`
	// IfFree refuses to replace another run's reservation.
	IfFree bool `json:"ifFree,omitempty"`
}

// Response says what the call has done.
type Response struct {
	Node string `json:"node"`
	Run  string `json:"run"`
	// Replaced is the run that had the node until now, if there was one.
	Replaced *string `json:"replaced"`
	Changed  bool    `json:"changed"`
}

// New makes the function.
func New(cluster Cluster, settings Settings) function.Function {
	return function.Function{
		Name:    "reserve",
		Summary: "keeps a node for a run: its taint and its label",
		Access: []function.Access{
			{Resource: "nodes", Verbs: []string{"get", "patch"}, Cluster: true},
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get"}},
		},
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(check),
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			if err := Permit(ctx, cluster, settings, call.Caller, request.Node, request.Run); err != nil {
				return function.Response{}, err
			}
			response := Response{Node: request.Node, Run: request.Run}
			err := cluster.ChangeNode(ctx, request.Node, func(node *corev1.Node) (bool, error) {
				var err error
				response.Replaced, response.Changed, err = apply(settings.Capacity, node, request)
				return response.Changed, err
			})
			return function.Response{Status: http.StatusOK, Body: response}, err
		}),
	}
}

func check(request Request) error { return CheckNames(request.Node, request.Run) }

// apply is the rule, on the node as it is now: it may run again on the node as
// another writer has left it.
func apply(settings capacity.Settings, node *corev1.Node, request Request) (replaced *string, changed bool, err error) {
	if !settings.IsWorker(node) {
		return nil, false, fault.New(fault.Invalid, "node %s is not a worker node: it has not the label %s", node.Name, settings.Workers)
	}
	if other := settings.ReservedFor(node); other != "" && other != request.Run {
		if request.IfFree {
			return nil, false, fault.New(fault.Conflict, "node %s is reserved for run %s", node.Name, other)
		}
		replaced = &other
	}
	return replaced, settings.Reserve(node, request.Run), nil
}
