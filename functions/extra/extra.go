// Package extra says how many helpers a split task may have now. Each helper is
// a Workflow of its own, owned by the run's.
package extra

import (
	"context"
	"net/http"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what extra does on the cluster.
type Cluster interface {
	lookup.Cluster
	CreateWorkflow(ctx context.Context, workflow *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error)
	ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error
	DeleteWorkflow(ctx context.Context, name, uid string) error
}

// Settings are the parts of the config that extra follows.
type Settings struct {
	Foreign owner.Foreign
	// Priorities are the classes by the config's names.
	Priorities map[string]argo.Priority
}

// Request names a split task and how many helpers it may have.
type Request struct {
	Run  string `json:"run"`
	Task string `json:"task"`
	// Workers is the number of helpers. It must be given: without it a slip of
	// the pen would stop them all.
	Workers *int `json:"workers"`
}

// Response says how many helpers there are, and whether this call changed it.
type Response struct {
	Run     string `json:"run"`
	Task    string `json:"task"`
	Workers int    `json:"workers"`
	Changed bool   `json:"changed"`
}

// New makes the function.
func New(cluster Cluster, settings Settings) function.Function {
	h := newHelping(cluster, settings)
	return function.Function{
		Name:     "extra",
		Summary:  "says how many helpers a split task may have now, and creates or stops them",
		Access:   []function.Access{{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"create", "delete", "get", "list", "patch"}}},
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(Request.check),
		Handle:   function.Typed(h.handle),
	}
}

func (r Request) check() error {
	var mistakes fault.List
	lookup.CheckName(r.Run, &mistakes)
	if r.Task == "" {
		mistakes.Add("task", "is missing: name a split task of the run")
	}
	switch {
	case r.Workers == nil:
		mistakes.Add("workers", "is missing: how many helpers the task may have now")
	case *r.Workers < 0:
		mistakes.Add("workers", "%d is not a number of helpers", *r.Workers)
	}
	return mistakes.Err(fault.Invalid, "the request is not valid")
}

// helping answers the calls.
type helping struct {
	cluster  Cluster
	settings Settings
	find     lookup.Finder
	now      func() time.Time
}

func newHelping(cluster Cluster, settings Settings) helping {
	return helping{cluster, settings, lookup.Finder{Cluster: cluster, Foreign: settings.Foreign}, time.Now}
}

func (h helping) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	if err := request.check(); err != nil {
		return function.Response{}, err
	}
	run, err := h.find.RunToChange(ctx, call.Caller, request.Run)
	if err != nil {
		return function.Response{}, err
	}
	if err := mayHave(run, request.Task, *request.Workers); err != nil {
		return function.Response{}, err
	}
	helpers, err := h.find.Helpers(ctx, run)
	if err != nil {
		return function.Response{}, err
	}
	had := helpersOf(helpers, request.Task)
	steps := plan(had, *request.Workers)
	response := Response{Run: request.Run, Task: request.Task, Workers: *request.Workers, Changed: len(steps.create)+len(steps.stop) > 0}
	for _, n := range steps.stop {
		if err := h.stop(ctx, had[n].Metadata.Name); err != nil {
			return function.Response{}, err
		}
	}
	if len(steps.create) == 0 {
		return function.Response{Status: http.StatusOK, Body: response}, nil
	}
	made, err := h.create(ctx, run, request.Task, steps.create, had)
	if err != nil {
		return function.Response{}, err
	}
	if made < len(steps.create) {
		response.Workers -= len(steps.create) - made
		return function.Response{Status: http.StatusAccepted, Body: response}, nil
	}
	return function.Response{Status: http.StatusOK, Body: response}, nil
}

// mayHave says whether a task of a run may have that many helpers now.
func mayHave(run *status.Workflow, task string, workers int) error {
	name := run.Metadata.Name
	allowed, split := argo.Helpers(run.Metadata.Annotations)[task]
	if !split {
		return fault.New(fault.Conflict, "the run %s has no split task %s", name, task)
	}
	if workers > allowed {
		return &fault.Error{Kind: fault.Invalid, Detail: "the request is not valid", Problems: []fault.Problem{
			{Path: "workers", Detail: overLimit(task, allowed)},
		}}
	}
	if run.Spec.Shutdown != "" {
		return fault.New(fault.Conflict, "the run %s is being ended", name)
	}
	if phase := status.Of(run, nil, nil).Tasks[task].Phase; !underWay(phase) {
		return fault.New(fault.Conflict, "the task %s of run %s is %s: helpers are for one that runs", task, name, phase)
	}
	return nil
}
