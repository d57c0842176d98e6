package record

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/status"
)

// recorder answers the calls.
type recorder struct {
	cluster  Cluster
	settings Settings
	find     lookup.Finder
}

func (r recorder) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	if err := request.check(r.settings.Namespace); err != nil {
		return function.Response{}, err
	}
	workflow, err := r.find.Workflow(ctx, call.Caller, request.Name)
	if err != nil {
		return function.Response{}, err
	}
	if workflow.Metadata.UID != request.UID {
		return function.Response{}, fault.New(fault.Conflict, "the Workflow %s has another UID now: it was replaced", request.Name)
	}
	return r.answer(ctx, workflow, nil)
}

// answer gives the events that a Workflow implies, those of one node where one is asked for.
func (r recorder) answer(ctx context.Context, workflow *status.Workflow, node *status.Node) (function.Response, error) {
	pods, err := r.cluster.Pods(ctx, map[string]string{cause.WorkflowLabel: workflow.Metadata.Name})
	if err != nil {
		return function.Response{}, err
	}
	return function.Response{Status: http.StatusOK, Body: Response{Events: r.imply(workflow, pods, node)}}, nil
}

func (r recorder) imply(workflow *status.Workflow, pods []corev1.Pod, node *status.Node) []event.Event {
	if node == nil {
		return event.Of(workflow, pods, r.settings.Source)
	}
	return event.OfNode(workflow, pods, r.settings.Source, node.ID)
}
