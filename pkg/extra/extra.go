// Package extra gives split tasks their helpers and takes them back: as somebody
// asks by function extra, and, where nobody did, when the task begins. Each
// helper is a Workflow of its own, owned by the run's. The objects of the cluster
// are the only memory.
package extra

import (
	"context"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what is done on the cluster.
type Cluster interface {
	lookup.Cluster
	CreateWorkflow(ctx context.Context, workflow *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error)
	ShutdownWorkflow(ctx context.Context, name string, strategy wfv1.ShutdownStrategy) error
	DeleteWorkflow(ctx context.Context, name, uid string) error
	AnnotateWorkflow(ctx context.Context, name, uid, key, value string) error
}

// Access is what it needs of the cluster.
var Access = function.Access{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"create", "delete", "get", "list", "patch"}}

// Helping changes how many helpers tasks have.
type Helping struct {
	cluster    Cluster
	priorities map[string]argo.Priority
	find       lookup.Finder
	now        func() time.Time
}

// New makes a Helping. The priorities are the classes by the config's names.
func New(cluster Cluster, priorities map[string]argo.Priority, now func() time.Time) Helping {
	return Helping{cluster, priorities, lookup.Finder{Cluster: cluster}, now}
}

// Result says what became of a number of helpers that was asked for.
type Result struct {
	// Workers is how many helpers the task may have now: fewer than asked for,
	// when there was no time for all. Doing the same again makes the others.
	Workers int
	Changed bool
}

// Set gives a task of a run as many helpers as somebody asks for. It is noted
// first, so that the task is left to them from then on.
func (h Helping) Set(ctx context.Context, run *status.Workflow, task string, workers int) (Result, error) {
	stands, err := mayHave(run, task, workers)
	if err != nil {
		return Result{}, err
	}
	if err := h.note(ctx, run, task, stands); err != nil {
		return Result{}, err
	}
	return h.reach(ctx, run, task, workers)
}

// Begin gives the tasks of a run that have begun the helpers that they ask for.
// That is noted when it is done: who comes after one that died does it again,
// which is harmless, and who comes after one that did it does not.
func (h Helping) Begin(ctx context.Context, name string) error {
	raw, err := h.cluster.Workflow(ctx, name)
	if err != nil {
		return err
	}
	run, err := status.Decode(raw)
	if err != nil {
		return err
	}
	for task, stands := range TasksOf(run).Due() {
		result, err := h.reach(ctx, run, task, stands.Allowed)
		if err != nil {
			return err
		}
		if result.Workers < stands.Allowed {
			return fault.New(fault.Unavailable, "the task %s of run %s has %d of %d helpers so far", task, name, result.Workers, stands.Allowed)
		}
		if err := h.note(ctx, run, task, stands); err != nil {
			return err
		}
	}
	return nil
}

// note remembers on the run's Workflow that the task's number of helpers was
// said for the present beginning of it.
func (h Helping) note(ctx context.Context, run *status.Workflow, task string, stands Task) error {
	if stands.Said {
		return nil
	}
	return h.cluster.AnnotateWorkflow(ctx, run.Metadata.Name, run.Metadata.UID, said+task, stands.Began)
}

// reach makes a task have that many helpers.
func (h Helping) reach(ctx context.Context, run *status.Workflow, task string, workers int) (Result, error) {
	helpers, err := h.find.Helpers(ctx, run)
	if err != nil {
		return Result{}, err
	}
	had := helpersOf(helpers, task)
	steps := plan(had, workers)
	for _, n := range steps.stop {
		if err := h.stop(ctx, had[n].Metadata.Name); err != nil {
			return Result{}, err
		}
	}
	result := Result{Workers: workers, Changed: len(steps.create)+len(steps.stop) > 0}
	if len(steps.create) == 0 {
		return result, nil
	}
	made, err := h.create(ctx, run, task, steps.create, had)
	result.Workers -= len(steps.create) - made
	return result, err
}

// mayHave says whether a task of a run may have that many helpers now.
func mayHave(run *status.Workflow, task string, workers int) (Task, error) {
	name := run.Metadata.Name
	stands, split := TasksOf(run).of[task]
	if !split {
		return Task{}, fault.New(fault.Conflict, "the run %s has no split task %s", name, task)
	}
	if workers > stands.Allowed {
		return Task{}, &fault.Error{Kind: fault.Invalid, Detail: "the request is not valid", Problems: []fault.Problem{
			{Path: "workers", Detail: overLimit(task, stands.Allowed)},
		}}
	}
	switch {
	case run.Spec.Shutdown != "":
		return Task{}, fault.New(fault.Conflict, "the run %s is being ended", name)
	case stands.Done:
		return Task{}, fault.New(fault.Conflict, "the workers of task %s of run %s are done: there is nothing left to help", task, name)
	case !stands.underWay():
		return Task{}, fault.New(fault.Conflict, "the task %s of run %s is %s: helpers are for one that runs", task, name, stands.Phase)
	}
	return stands, nil
}
