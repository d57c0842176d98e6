// Package status says where a run stands: from its Workflow, the evidence on
// it, its helpers' Workflows and its pods. Workflows that others made are read
// by the same rules. The package is pure.
package status

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// Status is the answer of the function `status`.
type Status struct {
	Run             string               `json:"run"`
	Phase           Phase                `json:"phase"`           // where it stands
	Message         string               `json:"message"`         // what Argo says of it
	Started         *time.Time           `json:"started"`         // null: not yet
	Ended           *time.Time           `json:"ended"`           // null: not yet
	ResourceVersion string               `json:"resourceVersion"` // changes with the run, its helpers and its pods
	Tasks           map[string]Task      `json:"tasks"`           // by their names relative to the Workflow
	Attempts        map[string][]Attempt `json:"attempts"`        // the failed and the interrupted ones, oldest first, by worker or task
}

// Task is where one task node stands, by its name relative to the Workflow.
type Task struct {
	Phase   Phase    `json:"phase"`
	Message string   `json:"message,omitempty"` // why its last attempt failed
	Waiting *Waiting `json:"waiting,omitempty"` // why it does not run yet
	// Done and Of count the workers of a split task.
	Done *int `json:"done,omitempty"`
	Of   *int `json:"of,omitempty"`
}

// Of says where a run stands. Helpers and pods may be empty; pods may show
// several moments, oldest first, and may be of other Workflows too.
func Of(w *Workflow, helpers []*Workflow, pods []corev1.Pod) Status {
	t := newTree(w, look(w, pods))
	s := Status{
		Run: w.Metadata.Name, Phase: t.runPhase(), Message: t.message(),
		Started: moment(w.Status.StartedAt), Ended: moment(w.Status.FinishedAt),
		ResourceVersion: resourceVersion(w, helpers, pods),
		Tasks:           map[string]Task{}, Attempts: map[string][]Attempt{},
	}
	t.addAttempts(s.Attempts, "")
	for name := range t.names() {
		s.Tasks[name] = t.task(name)
	}
	for _, helper := range helpers {
		addHelper(&s, helper, pods)
	}
	return s
}

func (t *tree) task(name string) Task {
	task := Task{Phase: t.phaseOfTask(name)}
	task.Waiting = t.waiting(name, task.Phase)
	n := t.tasks[name]
	if n != nil {
		task.Message = t.taskMessage(n)
	}
	if workers := t.workers(name); len(workers) > 0 {
		task.Done, task.Of = count(workers, t.phaseOfTask)
	} else if n != nil && n.Type == typeTaskGroup {
		task.Done, task.Of = count(t.members[n.ID], t.phase)
	}
	return task
}

// count says how many of the parts have succeeded, and of how many.
func count[P any](parts []P, phase func(P) Phase) (done, of *int) {
	succeeded, all := 0, len(parts)
	for _, p := range parts {
		if phase(p) == Succeeded {
			succeeded++
		}
	}
	return &succeeded, &all
}

// taskMessage is the node's message. A Retry node's own hides why its last
// attempt failed.
func (t *tree) taskMessage(n *Node) string {
	last := t.lastPod(n)
	message := cmp.Or(last.Message, n.Message)
	if last.Phase == "Succeeded" && len(t.seen.last(last.ID).Conditions) > 0 {
		if v := t.verdict(last); v.Interrupted {
			message = fmt.Sprintf("exited with 0 although it was interrupted (%s): its work may be unfinished", v.Cause)
		}
	}
	return message
}

// lastPod is the node of a task's last attempt.
func (t *tree) lastPod(n *Node) *Node {
	if attempts := t.attempts[n.ID]; len(attempts) > 0 {
		return attempts[len(attempts)-1]
	}
	return n
}

// addAttempts lists the failed and the interrupted attempts, oldest first.
func (t *tree) addAttempts(into map[string][]Attempt, key string) {
	for _, a := range t.endedAttempts(t.failed) {
		if a.Phase == Succeeded && !a.Interrupted {
			continue
		}
		k := cmp.Or(key, a.Key)
		into[k] = append(into[k], a)
	}
	for _, list := range into {
		slices.SortStableFunc(list, func(a, b Attempt) int {
			return cmp.Or(compareTimes(a.Started, b.Started), cmp.Compare(a.Attempt, b.Attempt))
		})
	}
}

// addHelper shows a helper as a task inside of the split task that it helps.
// It never counts for the run's phase.
func addHelper(s *Status, helper *Workflow, pods []corev1.Pod) {
	t := newTree(helper, look(helper, pods))
	task := helper.Metadata.Labels[owner.TaskLabel]
	number, err := strconv.Atoi(helper.Metadata.Labels[owner.ExtraLabel])
	if err != nil || task == "" {
		return // not a helper
	}
	id := run.HelperID(task, number)
	shown := Task{Phase: t.runPhase(), Message: helper.Status.Message}
	for _, name := range slices.Sorted(maps.Keys(t.names())) {
		if w := t.waiting(name, t.phaseOfTask(name)); w != nil && shown.Waiting == nil {
			shown.Waiting = w
		}
	}
	s.Tasks[task+"."+id] = shown
	t.addAttempts(s.Attempts, id)
}

// message is Argo's message with what a reader must know beside it.
func (t *tree) message() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if t.Status.Message != "" {
		add("%s", t.Status.Message)
	}
	if t.offloaded() {
		add("nodes unavailable: Argo keeps them in its database")
	}
	if t.seen.fault != nil {
		add("evidence unavailable: %v", t.seen.fault)
	}
	if names := t.defaultRetries(); len(names) > 0 && !t.ours() {
		add("template %s retries with Argo's default policy, which does not cover `pod deleted`: a preempted pod is not retried", strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}

// defaultRetries names the templates that rely on Argo's default policy,
// OnFailure: a pod that is gone is an Error there. With an expression the
// default is Always.
func (t *tree) defaultRetries() []string {
	var names []string
	seen := map[string]bool{}
	look := func(templates []Template, defaults *Template) {
		for _, tpl := range templates {
			retry := tpl.Retry
			if retry == nil && defaults != nil && tpl.DAG == nil {
				retry = defaults.Retry
			}
			if retry != nil && retry.Policy == "" && retry.Expression == "" && !seen[tpl.Name] {
				seen[tpl.Name] = true
				names = append(names, tpl.Name)
			}
		}
	}
	look(t.Spec.Templates, t.Spec.TemplateDefaults)
	if stored := t.Status.StoredSpec; stored != nil {
		look(stored.Templates, stored.TemplateDefaults)
	}
	for _, tpl := range t.Status.StoredTemplates {
		look([]Template{tpl}, nil)
	}
	slices.Sort(names)
	return names
}

// resourceVersion changes whenever the run, a helper or a pod does.
func resourceVersion(w *Workflow, helpers []*Workflow, pods []corev1.Pod) string {
	var parts []string
	for _, m := range append([]*Workflow{w}, helpers...) {
		parts = append(parts, m.Metadata.Name+"/"+m.Metadata.UID+"/"+m.Metadata.ResourceVersion)
	}
	for i := range pods {
		parts = append(parts, pods[i].Name+"/"+string(pods[i].UID)+"/"+pods[i].ResourceVersion)
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}
