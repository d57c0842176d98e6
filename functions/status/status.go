// Package status says where a run stands: from its Workflow, its helpers and
// the pods that are still there.
package status

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what status reads.
type Cluster interface {
	lookup.Cluster
	Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error)
}

// Request names the run.
type Request struct {
	Run string `json:"run"`
}

// New makes the function.
func New(cluster Cluster, foreign owner.Foreign) function.Function {
	find := lookup.Finder{Cluster: cluster, Foreign: foreign}
	return function.Function{
		Name:    "status",
		Summary: "says where a run and each of its tasks stand, and why attempts failed or were interrupted",
		Access: []function.Access{
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list"}},
			{Resource: "pods", Verbs: []string{"list"}},
		},
		Reads:    true,
		Request:  Request{},
		Response: status.Status{},
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			run, err := find.Run(ctx, call.Caller, request.Run)
			if err != nil {
				return function.Response{}, err
			}
			helpers, err := find.Helpers(ctx, run)
			if err != nil {
				return function.Response{}, err
			}
			pods, err := cluster.Pods(ctx, podsOf(run))
			if err != nil {
				return function.Response{}, err
			}
			return function.Response{Status: http.StatusOK, Body: status.Of(run, helpers, pods)}, nil
		}),
	}
}

// podsOf selects the pods of a run with those of its helpers. Pods of foreign
// Workflows have Argo's label only.
func podsOf(run *status.Workflow) map[string]string {
	label := cause.WorkflowLabel
	if run.Metadata.Labels[owner.ManagedBy] == owner.Name {
		label = argo.RunLabel
	}
	return map[string]string{label: run.Metadata.Name}
}
