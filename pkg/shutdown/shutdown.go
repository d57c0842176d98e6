// Package shutdown ends a run and its helpers. Doing it again is harmless.
// cancel and stop are its two strategies.
package shutdown

import (
	"context"
	"encoding/json"
	"net/http"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/strict"
)

// Cluster is what is done on the cluster.
type Cluster interface {
	lookup.Cluster
	ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error
}

// Request names the run.
type Request struct {
	Run string `json:"run"`
}

// Response says where the run stands, and whether this call changed it.
type Response struct {
	Run     string       `json:"run"`
	Phase   status.Phase `json:"phase"`
	Changed bool         `json:"changed"`
}

// Function makes the function that ends runs by a strategy.
func Function(name, summary string, strategy wfv1.ShutdownStrategy, cluster Cluster, foreign owner.Foreign) function.Function {
	find := lookup.Finder{Cluster: cluster, Foreign: foreign}
	return function.Function{
		Name:     name,
		Summary:  summary,
		Access:   []function.Access{{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list", "patch"}}},
		Request:  Request{},
		Response: Response{},
		Check: func(body json.RawMessage) error {
			var request Request
			if err := strict.JSON(body, &request); err != nil {
				return err
			}
			var mistakes fault.List
			lookup.CheckName(request.Run, &mistakes)
			return mistakes.Err(fault.Invalid, "the request is not valid")
		},
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			run, err := find.RunToChange(ctx, call.Caller, request.Run)
			if err != nil {
				return function.Response{}, err
			}
			ended, err := endAll(ctx, cluster, find, run, strategy)
			return function.Response{Status: http.StatusOK, Body: ended}, err
		}),
	}
}

// endAll ends the run, and then terminates its helpers: they only help, and one
// that outlives its run would hold quota for nobody. They are listed after the
// run was told to end, since who makes a helper looks at the run after it.
func endAll(ctx context.Context, cluster Cluster, find lookup.Finder, run *status.Workflow, strategy wfv1.ShutdownStrategy) (Response, error) {
	// What Argo makes of the order follows within seconds.
	response := Response{Run: run.Metadata.Name, Phase: status.Of(run, nil, nil).Phase}
	changed, err := end(ctx, cluster, run, strategy)
	if err != nil {
		return Response{}, err
	}
	response.Changed = changed
	helpers, err := find.Helpers(ctx, run)
	if err != nil {
		return Response{}, err
	}
	for _, helper := range helpers {
		changed, err := end(ctx, cluster, helper, wfv1.ShutdownStrategyTerminate)
		if err != nil {
			return Response{}, err
		}
		response.Changed = response.Changed || changed
	}
	return response, nil
}

// end patches a Workflow that still runs, unless it is being ended as strongly
// already.
func end(ctx context.Context, cluster Cluster, w *status.Workflow, strategy wfv1.ShutdownStrategy) (bool, error) {
	ending := wfv1.ShutdownStrategy(w.Spec.Shutdown)
	if !w.Status.FinishedAt.IsZero() || ending == strategy || ending == wfv1.ShutdownStrategyTerminate {
		return false, nil
	}
	err := cluster.ShutdownWorkflow(ctx, w.Metadata.Name, strategy)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil // deleted meanwhile: there is nothing left to end
	}
	return err == nil, err
}
