package record

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/evidence"
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
	now      func() time.Time
}

func (r recorder) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	if err := request.check(r.settings.Namespace); err != nil {
		return function.Response{}, err
	}
	record := r.pod
	if request.Kind == kindWorkflow {
		record = r.workflow
	}
	events, err := record(ctx, call.Caller, request)
	if fault.KindOf(err) == fault.NotFound && request.Deleted {
		// Nothing is left that evidence could stand on; the watch sends the last event.
		events, err = []event.Event{}, nil
	}
	if err != nil {
		return function.Response{}, err
	}
	return function.Response{Status: http.StatusOK, Body: Response{Events: events}}, nil
}

// workflow keeps what the pods show that a Workflow still has.
func (r recorder) workflow(ctx context.Context, caller function.Caller, request Request) ([]event.Event, error) {
	workflow, err := r.find.Workflow(ctx, caller, request.Name)
	if err != nil {
		return nil, err
	}
	if workflow.Metadata.UID != request.UID {
		return nil, another(request)
	}
	pods, err := r.pods(ctx, workflow)
	if err != nil {
		return nil, err
	}
	kept, err := r.keep(ctx, workflow, shown(pods))
	if err != nil {
		return nil, err
	}
	return event.Of(kept, pods, r.settings.Source), nil
}

// pod keeps what a pod shows that is there, or what is claimed of one that is gone.
func (r recorder) pod(ctx context.Context, caller function.Caller, request Request) ([]event.Event, error) {
	there, err := r.cluster.Pod(ctx, request.Name)
	if fault.KindOf(err) == fault.NotFound {
		there, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	workflow, node, err := r.workflowOf(ctx, caller, request.Name, there)
	if err != nil {
		return nil, err
	}
	pods, err := r.pods(ctx, workflow)
	if err != nil {
		return nil, err
	}
	nodeID, join := "", evidence.Join(nil)
	switch {
	case there != nil && string(there.UID) == request.UID:
		nodeID, join = there.Annotations[cause.NodeAnnotation], shown([]corev1.Pod{*there})
	case node == nil:
		return nil, another(request)
	default:
		nodeID, join = node.ID, claim{request, node, there, r.now()}.join
	}
	kept, err := r.keep(ctx, workflow, join)
	if err != nil {
		return nil, err
	}
	return event.OfNode(kept, pods, r.settings.Source, nodeID), nil
}

// pods gives those that a Workflow still has. Its name may have been another's before.
func (r recorder) pods(ctx context.Context, workflow *status.Workflow) ([]corev1.Pod, error) {
	named, err := r.cluster.Pods(ctx, map[string]string{cause.WorkflowLabel: workflow.Metadata.Name})
	if err != nil {
		return nil, err
	}
	return evidence.PodsOf(named, workflow.Metadata.UID), nil
}

func (r recorder) keep(ctx context.Context, workflow *status.Workflow, join evidence.Join) (*status.Workflow, error) {
	kept, err := evidence.Keep(ctx, r.cluster, workflow.Metadata, join)
	if err != nil {
		return nil, err
	}
	return kept.On(workflow), nil
}

// shown adds what pods show.
func shown(pods []corev1.Pod) evidence.Join {
	return func(known *cause.Evidence) (news bool, err error) {
		for i := range pods {
			news = known.ObserveAs(cause.FromRecord, &pods[i]) || news
		}
		return news, nil
	}
}

// another refuses an object that has the name, and not the UID.
func another(request Request) error {
	return fault.New(fault.Conflict, "the %s %s has another UID than %s", request.Kind, request.Name, request.UID)
}
