package status

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// Argo's node types that are told apart here.
const (
	typeDAG       = "DAG"
	typeSteps     = "Steps"
	typeStepGroup = "StepGroup"
	typeTaskGroup = "TaskGroup"
	typeRetry     = "Retry"
	typePod       = "Pod"
	typeContainer = "Container"
	typeSuspend   = "Suspend"
)

// tree is a Workflow's nodes as tasks and attempts.
type tree struct {
	*Workflow
	seen sights
	// tasks are the task nodes by their name relative to the Workflow.
	tasks map[string]*Node
	// planned are tasks of the spec that have no node yet, by the same names.
	planned map[string]DAGTask
	// attempts are the children of each Retry node, oldest first.
	attempts map[string][]*Node
	// tasksOf is which task a pod node is an attempt of, by node id.
	tasksOf map[string]string
	// members are the tasks inside of a composite node, by its id.
	members map[string][]*Node
	// dags are the tasks of the spec's DAG templates, by template.
	dags   map[string][]DAGTask
	phases map[string]Phase
	depth  int
}

func newTree(w *Workflow, seen sights) *tree {
	t := &tree{
		Workflow: w, seen: seen, tasks: map[string]*Node{}, planned: map[string]DAGTask{},
		attempts: map[string][]*Node{}, tasksOf: map[string]string{}, members: map[string][]*Node{},
		dags: map[string][]DAGTask{}, phases: map[string]Phase{},
	}
	isAttempt := t.findAttempts()
	grouped := map[string]bool{}
	for _, n := range w.Status.Nodes {
		if n.Type == typeTaskGroup {
			for _, id := range n.Children {
				if item := w.Status.Nodes[id]; item != nil && strings.HasPrefix(item.Name, n.Name+"(") {
					t.members[n.ID] = append(t.members[n.ID], item)
					grouped[id] = true
				}
			}
		}
	}
	for id, n := range w.Status.Nodes {
		if isAttempt[id] || !t.isTask(n) {
			continue
		}
		name := t.relative(n)
		t.tasks[name] = n
		t.tasksOf[id] = name
		for _, child := range t.attempts[id] {
			t.tasksOf[child.ID] = name
		}
		if !grouped[id] {
			t.members[n.BoundaryID] = append(t.members[n.BoundaryID], n)
		}
	}
	t.plan()
	return t
}

// findAttempts gives each Retry node its children. Later tasks can be children
// of a Retry node too; an attempt has the node's own name and a number.
func (t *tree) findAttempts() map[string]bool {
	is := map[string]bool{}
	for id, n := range t.Status.Nodes {
		if n.Type != typeRetry {
			continue
		}
		for _, childID := range n.Children {
			if child := t.Status.Nodes[childID]; child != nil && attemptNumber(n, child) >= 0 {
				t.attempts[id] = append(t.attempts[id], child)
				is[childID] = true
			}
		}
		slices.SortFunc(t.attempts[id], func(a, b *Node) int { return attemptNumber(n, a) - attemptNumber(n, b) })
	}
	return is
}

// attemptNumber is the number of a Retry node's child, -1 when it is none.
func attemptNumber(retry, child *Node) int {
	inner, ok := strings.CutPrefix(child.Name, retry.Name+"(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return -1
	}
	number, err := strconv.Atoi(inner[:len(inner)-1])
	if err != nil {
		return -1
	}
	return number
}

// isTask reports whether a node is a task: not the groups that Argo puts
// between steps, not a container of a pod, not the DAG that is the run itself.
func (t *tree) isTask(n *Node) bool {
	switch n.Type {
	case typeStepGroup, typeContainer:
		return false
	}
	return n.Name != t.Metadata.Name || !t.composite(n)
}

// composite reports whether other tasks run inside of a node.
func (t *tree) composite(n *Node) bool {
	switch n.Type {
	case typeDAG, typeSteps, typeTaskGroup:
		return true
	case typeRetry:
		attempts := t.attempts[n.ID]
		return len(attempts) > 0 && attempts[0].Type != typeRetry && t.composite(attempts[0])
	}
	return false
}

// relative is a node's name without the Workflow's. A Workflow that is one pod
// has one task, with the Workflow's name.
func (t *tree) relative(n *Node) string {
	name, ok := strings.CutPrefix(n.Name, t.Metadata.Name)
	if !ok || name == "" {
		return n.Name
	}
	return strings.TrimPrefix(name, ".")
}

// ours reports whether runhook made the Workflow.
func (w *Workflow) ours() bool { return owner.Ours(w.Metadata.Labels) }

// plan finds the tasks of a run's spec. Only a run of ours has them told
// before they have a node: another's templates may expand in ways of Argo's.
func (t *tree) plan() {
	if !t.ours() {
		return
	}
	for _, template := range t.Spec.Templates {
		if template.DAG != nil {
			t.dags[template.Name] = template.DAG.Tasks
		}
	}
	t.planDAG("", t.Spec.Entrypoint, map[string]bool{})
}

// planDAG plans each template once: no run of ours uses a DAG twice, and an
// object that does could grow without bound.
func (t *tree) planDAG(prefix, template string, planned map[string]bool) {
	if planned[template] {
		return
	}
	planned[template] = true
	for _, task := range t.dags[template] {
		t.planned[prefix+task.Name] = task
		t.planDAG(prefix+task.Name+".", task.Template, planned)
	}
}

// workers gives the names of a split task's workers: its merge is none.
func (t *tree) workers(name string) []string {
	task, planned := t.planned[name]
	if !planned {
		return nil
	}
	var names []string
	for _, inner := range t.dags[task.Template] {
		if inner.Name != run.MergeID(name) {
			names = append(names, name+"."+inner.Name)
		}
	}
	return names
}

// needs gives the names that a planned task waits for.
func (t *tree) needs(name string) []string {
	task := t.planned[name]
	parent, _, nested := cutLast(name)
	prefix := ""
	if nested {
		prefix = parent + "."
	}
	var open []string
	for _, need := range append(slices.Clone(task.Dependencies), words.FindAllString(task.Depends, -1)...) {
		if _, known := t.planned[prefix+need]; known && t.phaseOfTask(prefix+need) != Succeeded && !slices.Contains(open, need) {
			open = append(open, need)
		}
	}
	if len(open) == 0 && nested {
		return t.needs(parent)
	}
	return open
}

// words are the task names of a `depends` expression, `fit` of `fit.Succeeded`.
var words = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9_-]*`)

func cutLast(name string) (parent, last string, nested bool) {
	if i := strings.LastIndex(name, "."); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return "", name, false
}
