package commitstatus

import (
	"fmt"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
)

// blame tells what the author of a commit can mend from what they cannot.
func blame(c cause.Cause) State {
	switch c {
	case cause.Application, cause.OOM, cause.Deadline, cause.Image:
		return Failure
	}
	return Error
}

// ended says why an attempt ended.
func ended(a *event.Attempt) string {
	task := a.Name
	switch a.Cause {
	case cause.Preempted:
		return task + " was preempted by a run of higher priority"
	case cause.Evicted:
		return detail(task+" was evicted from its queue", a.Reason)
	case cause.PreemptedByScheduler:
		return task + " was preempted by a pod of higher priority"
	case cause.Drained:
		return task + " was drained from its node"
	case cause.Taint:
		return task + " was driven from its node by a taint"
	case cause.NodePressure:
		return task + " was evicted by its node, which was low on a resource"
	case cause.NodeShutdown:
		return task + " ended when its node shut down"
	case cause.OOM:
		return task + " ran out of memory"
	case cause.Deadline:
		return task + " ran past its deadline"
	case cause.Stopped:
		return task + " was stopped"
	case cause.Image:
		return "the image of " + task + " could not be pulled"
	case cause.Infrastructure:
		return detail(task+" failed through no fault of its program", a.Reason)
	case cause.Deleted:
		return "the pod of " + task + " was deleted"
	case cause.Lost:
		return "the pod of " + task + " was lost"
	}
	if a.ExitCode != nil {
		return fmt.Sprintf("%s ended with exit code %d", task, *a.ExitCode)
	}
	return detail(task+" ended", a.Message)
}

// waits says what a task waits for.
func waits(w *event.Waiting) string {
	task := w.Task
	switch w.Reason {
	case status.Queued:
		return task + " waits in its queue"
	case status.Gated:
		return detail(task+" waits at a gate", w.Detail)
	case status.Unschedulable:
		return detail("no node takes "+task, w.Detail)
	case status.Image:
		return detail("the image of "+task+" cannot be pulled", w.Detail)
	case status.Starting:
		return task + " starts"
	case status.Suspended:
		return detail(task+" is suspended", w.Detail)
	case status.RetryBackoff:
		return task + " waits before its next attempt"
	}
	return detail(task+" waits", w.Detail)
}

func detail(text, more string) string {
	if more == "" {
		return text
	}
	return text + " (" + more + ")"
}
