package event

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// origin is the delivery that a run came from; nil: it was submitted, or the
// annotation is not ours. A Workflow of somebody else's has none: it would be
// shown at a commit that it has nothing to do with.
func (b *builder) origin() *function.Origin {
	text := b.workflow.Metadata.Annotations[argo.SourceAnnotation]
	if text == "" || !owner.Ours(b.workflow.Metadata.Labels) {
		return nil
	}
	var origin function.Origin
	if json.Unmarshal([]byte(text), &origin) != nil {
		return nil
	}
	return &origin
}

// due is the attempt that a run's phase is due to: of the last attempts of the
// tasks that failed, or wait after an interruption or a failure, the one that
// ended first. A success has one only where it is false.
func (b *builder) due(phase status.Phase) *Attempt {
	last := map[string]status.Attempt{}
	for _, a := range b.attempts {
		before, seen := last[a.Task]
		if a.Phase.Ended() && (!seen || compareTimes(a.Ended, before.Ended) >= 0) {
			last[a.Task] = a
		}
	}
	var first *status.Attempt
	for task, a := range last {
		if phase == status.Succeeded && !a.FalseSuccess() || phase != status.Succeeded && b.status.Tasks[task].Phase != phase {
			continue
		}
		if first == nil || cmp.Or(compareTimes(a.Ended, first.Ended), cmp.Compare(a.Task, first.Task)) < 0 {
			first = &a
		}
	}
	if first == nil {
		return nil
	}
	return &Attempt{b.run, first.Task, *first}
}

// waits is what a run in a phase waits for: the first of its tasks in that phase
// that does not wait for another task.
func (b *builder) waits(phase status.Phase) *Waiting {
	if phase == status.Running || phase.Ended() {
		return nil
	}
	var names []string
	for name, task := range b.status.Tasks {
		if task.Phase == phase && task.Waiting != nil && task.Waiting.Reason != status.Dependencies {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	name := slices.Min(names)
	return &Waiting{name, *b.status.Tasks[name].Waiting}
}

// explained are the phases that an attempt may explain.
func explained(phase status.Phase) bool {
	switch phase {
	case status.Preempted, status.Retrying, status.Succeeded, status.Failed:
		return true
	}
	return false
}
