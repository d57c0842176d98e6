package logs

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// found is what a look at the cluster showed of a task.
type found struct {
	sources []source
	// ended is true when no further attempt will come.
	ended bool
}

// look finds the attempts of the task with their pods.
func (r reader) look(ctx context.Context, caller function.Caller, request Request) (found, error) {
	run, err := r.find.Run(ctx, caller, request.Run)
	if err != nil {
		return found{}, err
	}
	if run.Offloaded() {
		return found{}, fault.New(fault.Conflict, "which pods run %s had is not known: Argo keeps its nodes in a database", request.Run)
	}
	helpers, err := r.find.Helpers(ctx, run)
	if err != nil {
		return found{}, err
	}
	pods, err := r.cluster.Pods(ctx, podsOf(run))
	if err != nil {
		return found{}, err
	}
	return choose(request, run, helpers, pods)
}

// choose picks the attempts of what is asked for. It is pure.
func choose(request Request, run *status.Workflow, helpers []*status.Workflow, pods []corev1.Pod) (found, error) {
	state := status.Of(run, helpers, pods)
	known, ended := false, state.Phase.Ended()
	all := true
	for name, task := range state.Tasks {
		if request.asks(partOf(name)) {
			known = true
			all = all && task.Phase.Ended()
		}
	}
	if !known {
		return found{}, unknown(request)
	}
	byName := make(map[string]*corev1.Pod, len(pods))
	for i := range pods {
		byName[pods[i].Name] = &pods[i]
	}
	var sources []source
	add := func(w *status.Workflow, partOf func(status.Attempt) part) {
		for _, attempt := range status.AllAttempts(w, pods) {
			if p := partOf(attempt); request.asks(p) {
				sources = append(sources, sourcesOf(p, attempt, byName[attempt.Pod])...)
			}
		}
	}
	add(run, func(a status.Attempt) part { return partOf(a.Task) })
	for _, helper := range helpers {
		add(helper, func(status.Attempt) part { return partOfHelper(helper.Metadata.Labels) })
	}
	for i := range sources {
		if w := state.Tasks[sources[i].part.path].Waiting; w != nil && sources[i].waits == notStarted {
			sources[i].waits += ": " + said(string(w.Reason), w.Detail)
		}
	}
	sortSources(sources)
	return found{sources, ended || all}, nil
}

func unknown(request Request) error {
	if request.Worker != nil {
		return fault.New(fault.NotFound, "run %s has no worker %d of a task %s", request.Run, *request.Worker, request.Task)
	}
	return fault.New(fault.NotFound, "run %s has no task %s", request.Run, request.Task)
}

// podsOf selects the pods of a run with those of its helpers. Pods of foreign
// Workflows have Argo's label only.
func podsOf(run *status.Workflow) map[string]string {
	label := cause.WorkflowLabel
	if owner.Ours(run.Metadata.Labels) {
		label = argo.RunLabel
	}
	return map[string]string{label: run.Metadata.Name}
}
