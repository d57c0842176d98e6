package status

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// Phase is where a run, a task or a worker stands. The set is closed.
type Phase string

// The phases. A run is never Skipped.
const (
	Pending   Phase = "Pending"   // waits for admission or for what it needs
	Preempted Phase = "Preempted" // the attempt after an interruption waits
	Retrying  Phase = "Retrying"  // the attempt after another failure waits
	Running   Phase = "Running"
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
	Stopped   Phase = "Stopped" // by cancel or stop; also what never ended of a run that has ended
	Skipped   Phase = "Skipped"
)

// Phases lists every phase.
var Phases = []Phase{Pending, Preempted, Retrying, Running, Succeeded, Failed, Stopped, Skipped}

// Ended reports whether nothing more will happen.
func (p Phase) Ended() bool {
	switch p {
	case Succeeded, Failed, Stopped, Skipped:
		return true
	}
	return false
}

// going is the phase of what goes on, from the phases inside of it: Running
// when any runs, else the first of the others that any is.
func going(inside []Phase) Phase {
	for _, p := range []Phase{Running, Preempted, Retrying} {
		for _, q := range inside {
			if p == q {
				return p
			}
		}
	}
	return Pending
}

// argoEnded reports whether Argo calls a node or Workflow ended.
func argoEnded(phase string) bool {
	switch phase {
	case "Succeeded", "Failed", "Error", "Skipped", "Omitted":
		return true
	}
	return false
}

// runPhase is the phase of the run itself.
func (t *tree) runPhase() Phase {
	switch t.Status.Phase {
	case "Succeeded":
		return Succeeded
	case "Failed", "Error":
		if t.Spec.Shutdown != "" || cause.StopMessage(t.Status.Message) {
			return Stopped
		}
		return Failed
	}
	if t.offloaded() && t.Status.Phase == "Running" {
		return Running // Argo's word: the tasks cannot be asked
	}
	var inside []Phase
	for name := range t.names() {
		inside = append(inside, t.phaseOfTask(name))
	}
	return going(inside)
}

// names are the tasks that have a node, and those of the spec that do not yet.
func (t *tree) names() map[string]bool {
	names := make(map[string]bool, len(t.tasks)+len(t.planned))
	for name := range t.tasks {
		names[name] = true
	}
	for name := range t.planned {
		names[name] = true
	}
	return names
}

func (t *tree) phaseOfTask(name string) Phase {
	n := t.tasks[name]
	if n != nil {
		return t.phase(n)
	}
	if !argoEnded(t.Status.Phase) {
		if parent, _, nested := cutLast(name); nested && t.tasks[parent] != nil {
			if p := t.phaseOfTask(parent); p.Ended() {
				return neverStarted(p)
			}
		}
		return Pending
	}
	return neverStarted(t.runPhase())
}

// neverStarted is the phase of what had no node when what it is part of ended.
func neverStarted(whole Phase) Phase {
	if whole == Succeeded {
		return Skipped
	}
	return Stopped
}

// nodeDepth is how deep nodes nest: Argo stops a template that recurses at 100.
const nodeDepth = 200

func (t *tree) phase(n *Node) Phase {
	if p, ok := t.phases[n.ID]; ok {
		return p
	}
	t.phases[n.ID] = Pending // an object that names itself as its own part gets no further
	if t.depth >= nodeDepth {
		return Pending
	}
	t.depth++
	p := t.findPhase(n)
	t.depth--
	if argoEnded(t.Status.Phase) && !p.Ended() {
		p = Stopped
	}
	t.phases[n.ID] = p
	return p
}

func (t *tree) findPhase(n *Node) Phase {
	switch n.Phase {
	case "Succeeded":
		return Succeeded
	case "Skipped", "Omitted":
		return Skipped
	case "Failed", "Error":
		if t.stopped(n) {
			return Stopped
		}
		return Failed
	}
	switch {
	case n.Type == typeRetry:
		return t.retryPhase(n)
	case t.composite(n):
		var inside []Phase
		for _, m := range t.members[n.ID] {
			inside = append(inside, t.phase(m))
		}
		return going(inside)
	case n.Type == typeSuspend:
		return Pending
	}
	return t.leafPhase(n)
}

// stopped reports whether a failed node failed because somebody stopped the run.
func (t *tree) stopped(n *Node) bool {
	if cause.StopMessage(n.Message) {
		return true
	}
	inside := t.members[n.ID]
	if attempts := t.attempts[n.ID]; n.Type == typeRetry && len(attempts) > 0 {
		inside = attempts[len(attempts)-1:]
	}
	stopped := false
	for _, m := range inside {
		switch t.phase(m) {
		case Failed:
			return false
		case Stopped:
			stopped = true
		}
	}
	return stopped
}

// leafPhase is the phase of a pod that has not ended. Argo still calls a node
// Running whose pod it has silently started again: the new pod tells.
func (t *tree) leafPhase(n *Node) Phase {
	replaced := t.seen.replaced(n.ID)
	pod := t.seen.pods[n.ID]
	waits := n.Phase != "Running" || (pod != nil && pod.Status.Phase == corev1.PodPending && len(replaced) > 0)
	if !waits {
		return Running
	}
	if len(replaced) > 0 {
		return after(cause.Of(cause.End{Replaced: true}, replaced[len(replaced)-1]))
	}
	return Pending
}

// retryPhase is the phase of a Retry node that goes on: its last child's, or
// what the child before that ended with while the last one waits.
func (t *tree) retryPhase(n *Node) Phase {
	attempts := t.attempts[n.ID]
	if len(attempts) == 0 {
		return Pending
	}
	last := attempts[len(attempts)-1]
	switch p := t.phase(last); {
	case p == Failed:
		return after(t.verdict(last))
	case p != Pending || len(attempts) == 1:
		return p
	default:
		return after(t.verdict(attempts[len(attempts)-2]))
	}
}

// lastFailed gives the part of a composite node that failed last, nil when
// none did. A part's name is longer than its whole's, so this ends.
func (t *tree) lastFailed(n *Node) *Node {
	parts := slices.Concat(t.members[n.ID], t.attempts[n.ID])
	var last *Node
	for _, m := range parts {
		if (m.Phase == "Failed" || m.Phase == "Error") && len(m.Name) > len(n.Name) && (last == nil || last.FinishedAt.Before(m.FinishedAt)) {
			last = m
		}
	}
	return last
}

// after is the phase of the attempt that waits after one that ended.
func after(v cause.Verdict) Phase {
	// A program that ends on SIGTERM exits with 143. Without proof of an
	// interruption it is taken for one: that is also how a run is retried.
	if v.Interrupted || v.Cause.Interruption() || (v.Cause == cause.Application && v.ExitCode != nil && *v.ExitCode == 143) {
		return Preempted
	}
	return Retrying
}

// verdict says why the attempt of a node ended. An attempt that is a DAG ended
// as the last of its failed tasks did.
func (t *tree) verdict(n *Node) cause.Verdict {
	if n.Type != typePod {
		if failed := t.lastFailed(n); failed != nil {
			return t.verdict(failed)
		}
	}
	end := cause.End{Succeeded: n.Phase == "Succeeded", Message: strings.TrimSpace(n.Message), Finished: n.FinishedAt}
	if n.Outputs != nil {
		if code, err := strconv.Atoi(n.Outputs.ExitCode); err == nil {
			end.ExitCode = &code
		}
	}
	return cause.Of(end, t.seen.last(n.ID))
}
