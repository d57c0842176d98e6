// Package extratest is a cluster that holds a run with a split task, for tests.
package extratest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/run"
)

// Started is when the run has started.
var Started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Priorities are the classes of the cluster.
var Priorities = map[string]argo.Priority{"high": {Class: "high", Extra: "high-extra"}}

// Cluster holds Workflows by their name, and notes what is done to them.
type Cluster struct {
	All  map[string]*wfv1.Workflow
	Done []string
	// Lingers is how often a deleted Workflow is still there.
	Lingers int
	// Create, when set, happens before a creation and may refuse it.
	Create func(*wfv1.Workflow) error

	uids int
}

// New has the run `a` of the caller ci. Its split task fit, of two workers, two
// helpers and a merge, runs.
func New(t *testing.T) *Cluster {
	t.Helper()
	asked, err := run.Decode([]byte(`{"id":"a","priority":"high","deadline":"2h","tasks":[
		{"id":"fetch","image":"busybox","command":["true"]},
		{"id":"fit","image":"busybox","command":["true"],"needs":["fetch"],"split":{"workers":2,"extra":2,"merge":{"command":["true"]}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := argo.Render(asked, argo.Options{Caller: "ci", Priorities: Priorities})
	if err != nil {
		t.Fatal(err)
	}
	workflow.UID = "run-uid"
	workflow.Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowRunning, StartedAt: metav1.Time{Time: Started}, Nodes: wfv1.Nodes{
		"a": {ID: "a", Name: "a", DisplayName: "a", Type: wfv1.NodeTypeDAG, Phase: wfv1.NodeRunning, TemplateName: "run", Children: []string{"a-0"}},
	}}
	on := &Cluster{All: map[string]*wfv1.Workflow{"a": workflow}}
	on.Node("a.fetch", wfv1.NodeTypePod, wfv1.NodeSucceeded)
	on.Node("a.fit", wfv1.NodeTypeDAG, wfv1.NodeRunning)
	on.Node("a.fit.fit-0", wfv1.NodeTypePod, wfv1.NodeRunning)
	on.Node("a.fit.fit-1", wfv1.NodeTypePod, wfv1.NodeRunning)
	return on
}

// Node sets a node of the run's Workflow.
func (c *Cluster) Node(name string, kind wfv1.NodeType, phase wfv1.NodePhase) {
	whole := name[:strings.LastIndex(name, ".")]
	c.All["a"].Status.Nodes[name] = wfv1.NodeStatus{
		ID: name, Name: name, DisplayName: name[len(whole)+1:], BoundaryID: whole, Type: kind, Phase: phase,
		StartedAt: metav1.Time{Time: Started.Add(time.Minute)},
	}
}

// Workflow gives one.
func (c *Cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	workflow, ok := c.All[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	if workflow.DeletionTimestamp != nil {
		if c.Lingers--; c.Lingers < 0 {
			delete(c.All, name)
		}
	}
	return json.Marshal(workflow)
}

// Workflows gives the helpers of a run.
func (c *Cluster) Workflows(_ context.Context, labels map[string]string) ([]byte, error) {
	list := wfv1.WorkflowList{}
	for _, workflow := range c.All {
		if workflow.Labels[argo.ExtraOfLabel] != "" && workflow.Labels[argo.ExtraOfLabel] == labels[argo.ExtraOfLabel] {
			list.Items = append(list.Items, *workflow)
		}
	}
	return json.Marshal(list)
}

// CreateWorkflow makes one.
func (c *Cluster) CreateWorkflow(_ context.Context, workflow *wfv1.Workflow, _ bool) (*wfv1.Workflow, error) {
	if c.Create != nil {
		if err := c.Create(workflow); err != nil {
			return nil, err
		}
	}
	if c.All[workflow.Name] != nil {
		return nil, fault.New(fault.Conflict, "workflow %s exists already", workflow.Name)
	}
	c.uids++
	workflow.UID = types.UID(strings.Repeat("u", c.uids))
	c.All[workflow.Name] = workflow
	c.Done = append(c.Done, "create "+workflow.Name)
	return workflow, nil
}

// ShutdownWorkflow tells one to end.
func (c *Cluster) ShutdownWorkflow(_ context.Context, name string, strategy wfv1.ShutdownStrategy) error {
	workflow := c.All[name]
	if workflow == nil {
		return fault.New(fault.NotFound, "run %s does not exist", name)
	}
	workflow.Spec.Shutdown = strategy
	c.Done = append(c.Done, string(strategy)+" "+name)
	return nil
}

// DeleteWorkflow deletes one.
func (c *Cluster) DeleteWorkflow(_ context.Context, name, uid string) error {
	workflow := c.All[name]
	if workflow == nil {
		return fault.New(fault.NotFound, "run %s does not exist", name)
	}
	if string(workflow.UID) != uid {
		return fault.New(fault.Conflict, "run %s was changed", name)
	}
	c.Done = append(c.Done, "delete "+name)
	if c.Lingers > 0 {
		workflow.DeletionTimestamp = &metav1.Time{Time: Started}
		return nil
	}
	delete(c.All, name)
	return nil
}

// AnnotateWorkflow sets an annotation; it is not among what was done.
func (c *Cluster) AnnotateWorkflow(_ context.Context, name, uid, key, value string) error {
	workflow := c.All[name]
	if workflow == nil || string(workflow.UID) != uid {
		return fault.New(fault.Conflict, "run %s was changed", name)
	}
	workflow.Annotations[key] = value
	return nil
}

// Alive names the helpers that are not stopped.
func (c *Cluster) Alive() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.All)) {
		if workflow := c.All[name]; workflow.Labels[argo.ExtraOfLabel] != "" && workflow.Spec.Shutdown == "" {
			names = append(names, name)
		}
	}
	return names
}

// TakeDone gives what was done since it was last asked.
func (c *Cluster) TakeDone() []string {
	done := slices.Clone(c.Done)
	c.Done = nil
	return done
}
