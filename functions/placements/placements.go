// Package placements answers where the pods of runs are that have not
// terminated, and what they request.
package placements

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// Cluster is what placements reads of the cluster.
type Cluster interface {
	EachPodWithLabel(ctx context.Context, label string, visit func(*corev1.Pod)) error
	EachWorkflow(ctx context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error
}

// Settings are the parts of the config that placements follows.
type Settings struct {
	Capacity  capacity.Settings
	Namespace string
	Foreign   owner.Foreign
}

// Request asks for all of them.
type Request struct{}

// Response lists the pods by run, then by name.
type Response struct {
	Placements []Placement `json:"placements"`
}

// New makes the function.
func New(cluster Cluster, settings Settings) function.Function {
	p := placer{cluster, settings}
	return function.Function{
		Name:    "placements",
		Summary: "tells on which node each pod of a run is that has not terminated, and what it requests",
		Access: []function.Access{
			{Resource: "pods", Verbs: []string{"list"}, Cluster: true},
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"list"}},
		},
		Reads:    true,
		Request:  Request{},
		Response: Response{},
		Handle:   function.Typed(p.handle),
	}
}

type placer struct {
	cluster  Cluster
	settings Settings
}

func (p placer) handle(ctx context.Context, call function.Call, _ Request) (function.Response, error) {
	sees, err := p.visible(ctx, call.Caller)
	if err != nil {
		return function.Response{}, err
	}
	placements := []Placement{}
	err = p.cluster.EachPodWithLabel(ctx, p.settings.Capacity.RunLabel, func(pod *corev1.Pod) {
		if p.settings.Capacity.OfRun(pod) && !capacity.Terminated(pod) && sees(pod) {
			placements = append(placements, placementOf(pod, p.settings.Capacity.RunLabel))
		}
	})
	if err != nil {
		return function.Response{}, err
	}
	return function.Response{Status: http.StatusOK, Body: Response{sorted(placements)}}, nil
}

// visible gives the rule by which the caller sees pods. Whose a run is stands
// on its Workflow only, so the Workflows are listed once: one request a page
// instead of one a run.
func (p placer) visible(ctx context.Context, caller function.Caller) (func(*corev1.Pod) bool, error) {
	if nobodys := (owner.Run{}); owner.MaySee(caller, nobodys, p.settings.Foreign) {
		return func(*corev1.Pod) bool { return true }, nil
	}
	seen := map[string]bool{}
	err := p.cluster.EachWorkflow(ctx, owner.RunLabel, func(workflow *metav1.PartialObjectMetadata) {
		run := owner.Run{Labels: workflow.Labels, Annotations: workflow.Annotations}
		seen[workflow.Name] = owner.MaySee(caller, run, p.settings.Foreign)
	})
	return func(pod *corev1.Pod) bool {
		// A pod elsewhere may have any label: its Workflow was not looked at.
		return pod.Namespace == p.settings.Namespace && seen[pod.Labels[p.settings.Capacity.RunLabel]]
	}, err
}
