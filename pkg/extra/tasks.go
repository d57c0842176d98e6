package extra

import (
	"time"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// said begins the annotations of a run's Workflow that remember, for each split
// task, for which beginning of it a number of helpers was said. `argo retry` may
// begin a task a second time.
const said = "runhook/extra."

// Task is where a split task stands, as far as its helpers are concerned.
type Task struct {
	// Allowed is how many helpers it may have: its split.extra.
	Allowed int
	Phase   status.Phase
	// Done is set when all workers have succeeded; the merge may go on.
	Done bool
	// Began is when it did; empty: it has not.
	Began string
	// Said is set when a number of helpers was said for this beginning.
	Said bool
}

// underWay reports whether a task runs, or would if its workers had room.
func (t Task) underWay() bool {
	return t.Phase == status.Running || t.Phase == status.Preempted || t.Phase == status.Retrying
}

// Tasks are the split tasks of a run.
type Tasks struct {
	of     map[string]Task
	ending bool
	ended  bool
}

// TasksOf reads a run's Workflow. What is no run of ours has no split tasks.
func TasksOf(run *status.Workflow) Tasks {
	t := Tasks{ending: run.Spec.Shutdown != "", ended: !run.Status.FinishedAt.IsZero()}
	allowed := argo.Helpers(run.Metadata.Annotations)
	if len(allowed) == 0 || !owner.Ours(run.Metadata.Labels) || run.Metadata.Labels[argo.ExtraOfLabel] != "" {
		return t
	}
	t.of = make(map[string]Task, len(allowed))
	stands := status.Of(run, nil, nil).Tasks
	for name, helpers := range allowed {
		is := stands[name]
		task := Task{
			Allowed: helpers, Phase: is.Phase, Began: began(run, name),
			Done: is.Of != nil && *is.Done == *is.Of,
		}
		task.Said = task.Began != "" && run.Metadata.Annotations[said+name] == task.Began
		t.of[name] = task
	}
	return t
}

func began(run *status.Workflow, task string) string {
	for _, node := range run.Status.Nodes {
		if node.Name == run.Metadata.Name+"."+task && !node.StartedAt.IsZero() {
			return node.StartedAt.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// Due gives the tasks that have begun, ask for helpers, and of which nobody has
// said a number yet.
func (t Tasks) Due() map[string]Task {
	due := map[string]Task{}
	for name, task := range t.of {
		if task.Allowed > 0 && task.underWay() && !task.Done && !task.Said && !t.ending && !t.ended {
			due[name] = task
		}
	}
	return due
}

// Over reports whether there is nothing left to help of a task.
func (t Tasks) Over(task string) bool {
	return t.ended || t.of[task].Done || t.of[task].Phase.Ended()
}
