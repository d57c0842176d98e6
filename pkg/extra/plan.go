package extra

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

func overLimit(task string, allowed int) string {
	return fmt.Sprintf("the task %s may have at most %d: its split.extra says so", task, allowed)
}

// helpersOf gives a task's helpers by their number.
func helpersOf(helpers []*status.Workflow, task string) map[int]*status.Workflow {
	numbered := map[int]*status.Workflow{}
	for _, helper := range helpers {
		n, err := strconv.Atoi(helper.Metadata.Labels[argo.ExtraLabel])
		if err == nil && helper.Metadata.Labels[argo.TaskLabel] == task {
			numbered[n] = helper
		}
	}
	return numbered
}

// steps are the numbers of the helpers that are to be made, lowest first, and
// to be stopped, highest first.
type steps struct{ create, stop []int }

// plan compares the helpers that there are with how many there may be. One
// that was stopped is none; one that has ended by itself has done its share,
// and is not started again.
func plan(had map[int]*status.Workflow, workers int) steps {
	var s steps
	for n := range workers {
		if helper := had[n]; helper == nil || stopped(helper) {
			s.create = append(s.create, n)
		}
	}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(had))) {
		if n >= workers && !stopped(had[n]) && had[n].Status.FinishedAt.IsZero() {
			s.stop = append(s.stop, n)
		}
	}
	return s
}

func stopped(helper *status.Workflow) bool { return helper.Spec.Shutdown != "" }

func helperName(of *status.Workflow, task string, n int) string {
	return run.HelperName(of.Metadata.Labels[argo.RunLabel], task, n)
}
