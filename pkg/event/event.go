// Package event says the state of a run as CloudEvents. It is pure: the same
// Workflow with the same evidence gives the same events with the same ids,
// whoever asks and however often. Sending again is therefore safe, and what was
// sent can be compared with what an end state implies.
package event

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

// Event is one change of state.
type Event struct {
	event.Event
	// Phase is the new phase of a run or task, empty for an attempt.
	Phase status.Phase
	// Attempt is set for the start or the end of one.
	Attempt *status.Attempt
	// Run is the data of an event about a run.
	Run *Run
	// Build is the data of an event about the building of an image.
	Build *Build
}

// Run is the data of an event about a run.
type Run struct {
	Run     string       `json:"run"`
	Phase   status.Phase `json:"phase"`
	Message string       `json:"message"`
	Started *time.Time   `json:"started"`
	Ended   *time.Time   `json:"ended"`

	// Source says which delivery the run came from, as its annotation does; it
	// is text from outside. Without one the run was submitted.
	Source *function.Origin `json:"source,omitempty"`
	// Attempt is the one that the phase is due to: that failed, that was
	// interrupted, or whose success is false.
	Attempt *Attempt `json:"attempt,omitempty"`
	// Waiting is what the run waits for.
	Waiting *Waiting `json:"waiting,omitempty"`
}

// Waiting says which task of a run waits for what.
type Waiting struct {
	Task string `json:"task"`
	status.Waiting
}

// Task is the data of an event about a task or worker.
type Task struct {
	Run  string `json:"run"`
	Name string `json:"task"`
	status.Task
}

// Attempt is the data of an event about one pod of a task or worker.
type Attempt struct {
	Run  string `json:"run"`
	Name string `json:"task"`
	status.Attempt
}

// Source names the namespace of runs on a cluster. The public URL tells the
// events of several clusters apart.
func Source(publicURL, namespace string) string {
	return strings.TrimSuffix(publicURL, "/") + "/namespaces/" + namespace
}

// Of gives the events that the present state of a Workflow implies: of each
// attempt its start and its end, of each task and of the run its phase. Events
// of parts come before those of the whole.
func Of(w *status.Workflow, pods []corev1.Pod, source string) []Event {
	b := newBuilder(w, pods, source)
	b.attemptEvents()
	b.buildEvents()
	for _, name := range b.taskNames() {
		b.taskEvent(name, b.status.Tasks[name])
	}
	if b.helper == "" {
		b.runEvent(b.status.Phase, b.status.Message)
	}
	return b.events
}

// Deleted gives the last event of a Workflow that was deleted, from its last
// state: none when it had ended before.
func Deleted(w *status.Workflow, source string) []Event {
	b := newBuilder(w, nil, source)
	if b.status.Phase.Ended() || b.helper != "" {
		return nil
	}
	b.runEvent(status.Stopped, "the Workflow was deleted before its end")
	return b.events
}

// builder makes the events of one Workflow.
type builder struct {
	workflow *status.Workflow
	pods     []corev1.Pod
	source   string
	status   status.Status
	attempts []status.Attempt
	run      string
	// helper is the task that a Workflow of a helper is to the reader.
	helper string
	nodes  map[string]string // ids of Argo's nodes by their task's name
	events []Event
}

func newBuilder(w *status.Workflow, pods []corev1.Pod, source string) *builder {
	b := &builder{
		workflow: w, pods: pods, source: source, run: w.Metadata.Name,
		status: status.Of(w, nil, pods), attempts: status.AllAttempts(w, pods), nodes: map[string]string{},
	}
	slices.SortStableFunc(b.attempts, byNodeThenAge)
	if of := w.Metadata.Labels[argo.ExtraOfLabel]; of != "" {
		if n, err := strconv.Atoi(w.Metadata.Labels[argo.ExtraLabel]); err == nil {
			task := w.Metadata.Labels[argo.TaskLabel]
			b.run, b.helper = of, task+"."+run.HelperID(task, n)
		}
	}
	for id, n := range w.Status.Nodes {
		name := strings.TrimPrefix(strings.TrimPrefix(n.Name, w.Metadata.Name), ".")
		if name == "" {
			name = n.Name // a Workflow that is one pod has one task of its own name
		}
		b.nodes[name] = id
	}
	return b
}

// taskNames are the tasks to tell of. Of a helper it is one, its whole; a task
// that Argo has not come to has no state yet that could change.
func (b *builder) taskNames() []string {
	var names []string
	for name, task := range b.status.Tasks {
		if b.nodes[name] != "" || task.Phase.Ended() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if b.helper != "" {
		return names[:min(len(names), 1)]
	}
	return names
}

// taskName is a task's name as a reader knows it.
func (b *builder) taskName(name string) string {
	if b.helper != "" {
		return b.helper
	}
	return name
}

func (b *builder) runEvent(phase status.Phase, message string) {
	by := b.bringer("", phase)
	data := &Run{
		Run: b.run, Phase: phase, Message: message, Started: b.status.Started, Ended: b.status.Ended,
		Source: b.origin(), Waiting: b.waits(phase),
	}
	if explained(phase) {
		data.Attempt = b.due(phase)
	}
	b.add(kind("run", string(phase)), b.run, moment(by, phase, b.status.Ended), data, Event{Phase: phase, Run: data}, "run", string(phase), by.id())
}

func (b *builder) taskEvent(name string, task status.Task) {
	by := b.bringer(name, task.Phase)
	node := by.NodeID
	if node == "" {
		node = b.nodes[name]
	}
	shown := b.taskName(name)
	b.add(kind("task", string(task.Phase)), b.run+"/"+shown, moment(by, task.Phase, nil),
		Task{b.run, shown, task}, Event{Phase: task.Phase}, "task", name, node, string(task.Phase), by.uid)
}

// attemptEvents tells of every attempt that it has started and that it has
// ended. Pods that silently replaced another on the same node of Argo's, and
// pods that were replaced, are told apart by their UID.
func (b *builder) attemptEvents() {
	previous := ""
	for i := range b.attempts {
		a := &b.attempts[i]
		first := a.NodeID != previous
		previous = a.NodeID
		if started(*a) {
			begun := *a
			begun.Ended, begun.Cause, begun.Reason, begun.ExitCode = nil, "", "", nil
			begun.OOM, begun.Interrupted, begun.Restarted, begun.Message = false, false, false, ""
			begun.Phase = status.Running
			b.attemptEvent("started", begun, a.Started, uidUnless(first, a.UID))
		}
		if a.Phase.Ended() {
			b.attemptEvent("ended", *a, a.Ended, uidUnless(!a.Restarted, a.UID))
		}
	}
}

func (b *builder) attemptEvent(what string, a status.Attempt, at *time.Time, uid string) {
	task := b.taskName(a.Task)
	b.add(kind("attempt", what), b.run+"/"+task, at, Attempt{b.run, task, a}, Event{Attempt: &a}, "attempt", a.NodeID, what, uid)
}

func uidUnless(known bool, uid string) string {
	if known {
		return ""
	}
	return uid
}

// started reports whether an attempt's program has begun. Of one that has ended
// it is taken to have, if its pod had come to a node.
func started(a status.Attempt) bool {
	return a.Phase == status.Running || (a.Phase.Ended() && a.Host != "")
}

func byNodeThenAge(a, b status.Attempt) int {
	if c := strings.Compare(a.NodeID, b.NodeID); c != 0 {
		return c
	}
	if a.Restarted != b.Restarted { // those that were replaced are older
		if a.Restarted {
			return -1
		}
		return 1
	}
	return compareTimes(a.Started, b.Started)
}
