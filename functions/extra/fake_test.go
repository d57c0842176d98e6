package extra

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

var started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// cluster holds Workflows by their name, and notes what is done to them.
type cluster struct {
	workflows map[string]*wfv1.Workflow
	uids      int
	done      []string
	// lingers is how often a deleted Workflow is still there.
	lingers int
	// create, when set, happens before a creation and may refuse it.
	create func(*wfv1.Workflow) error
}

// newCluster has the run `a` of the caller ci, whose split task fit runs.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	asked, err := run.Decode([]byte(`{"id":"a","priority":"high","deadline":"2h","tasks":[
		{"id":"fetch","image":"busybox","command":["true"]},
		{"id":"fit","image":"busybox","command":["true"],"needs":["fetch"],"split":{"workers":2,"extra":2}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := argo.Render(asked, argo.Options{Caller: "ci", Priorities: map[string]argo.Priority{"high": {Class: "high", Extra: "high-extra"}}})
	if err != nil {
		t.Fatal(err)
	}
	workflow.UID = "run-uid"
	workflow.Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowRunning, StartedAt: metav1.Time{Time: started}, Nodes: wfv1.Nodes{
		"a":   {ID: "a", Name: "a", DisplayName: "a", Type: wfv1.NodeTypeDAG, Phase: wfv1.NodeRunning, TemplateName: "run", Children: []string{"a-0"}},
		"a-0": {ID: "a-0", Name: "a.fetch", DisplayName: "fetch", Type: wfv1.NodeTypePod, Phase: wfv1.NodeSucceeded, BoundaryID: "a", TemplateName: "task-fetch", Children: []string{"a-1"}},
		"a-1": {ID: "a-1", Name: "a.fit", DisplayName: "fit", Type: wfv1.NodeTypeDAG, Phase: wfv1.NodeRunning, BoundaryID: "a", TemplateName: "split-fit", Children: []string{"a-2"}},
		"a-2": {ID: "a-2", Name: "a.fit.fit-0", DisplayName: "fit-0", Type: wfv1.NodeTypePod, Phase: wfv1.NodeRunning, BoundaryID: "a-1", TemplateName: "worker-fit"},
	}}
	return &cluster{workflows: map[string]*wfv1.Workflow{"a": workflow}}
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	workflow, ok := c.workflows[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	if workflow.DeletionTimestamp != nil {
		if c.lingers--; c.lingers < 0 {
			delete(c.workflows, name)
		}
	}
	return json.Marshal(workflow)
}

func (c *cluster) Workflows(_ context.Context, labels map[string]string) ([]byte, error) {
	list := wfv1.WorkflowList{}
	for _, workflow := range c.workflows {
		if workflow.Labels[argo.ExtraOfLabel] != "" && workflow.Labels[argo.ExtraOfLabel] == labels[argo.ExtraOfLabel] {
			list.Items = append(list.Items, *workflow)
		}
	}
	return json.Marshal(list)
}

func (c *cluster) CreateWorkflow(_ context.Context, workflow *wfv1.Workflow, _ bool) (*wfv1.Workflow, error) {
	if c.create != nil {
		if err := c.create(workflow); err != nil {
			return nil, err
		}
	}
	if c.workflows[workflow.Name] != nil {
		return nil, fault.New(fault.Conflict, "workflow %s exists already", workflow.Name)
	}
	c.uids++
	workflow.UID = types.UID(strings.Repeat("u", c.uids))
	c.workflows[workflow.Name] = workflow
	c.done = append(c.done, "create "+workflow.Name)
	return workflow, nil
}

func (c *cluster) ShutdownWorkflow(_ context.Context, name string, strategy wfv1.ShutdownStrategy) error {
	workflow := c.workflows[name]
	if workflow == nil {
		return fault.New(fault.NotFound, "run %s does not exist", name)
	}
	workflow.Spec.Shutdown = strategy
	c.done = append(c.done, string(strategy)+" "+name)
	return nil
}

func (c *cluster) DeleteWorkflow(_ context.Context, name, uid string) error {
	workflow := c.workflows[name]
	if workflow == nil {
		return fault.New(fault.NotFound, "run %s does not exist", name)
	}
	if string(workflow.UID) != uid {
		return fault.New(fault.Conflict, "run %s was changed", name)
	}
	c.done = append(c.done, "delete "+name)
	if c.lingers > 0 {
		workflow.DeletionTimestamp = &metav1.Time{Time: started}
		return nil
	}
	delete(c.workflows, name)
	return nil
}

// alive names the helpers that are not stopped.
func (c *cluster) alive() []string {
	var names []string
	for name, workflow := range c.workflows {
		if workflow.Labels[argo.ExtraOfLabel] != "" && workflow.Spec.Shutdown == "" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// takeDone gives what was done since it was last asked.
func (c *cluster) takeDone() []string {
	done := slices.Clone(c.done)
	c.done = nil
	return done
}

var ci = function.Caller{Name: "ci"}

// call calls half an hour after the run has started.
func (c *cluster) call(ctx context.Context, caller function.Caller, body string) (Response, int, error) {
	settings := Settings{Foreign: owner.ForeignAll, Priorities: map[string]argo.Priority{"high": {Class: "high", Extra: "high-extra"}}}
	h := newHelping(c, settings)
	h.now = func() time.Time { return started.Add(30 * time.Minute) }
	got, err := function.Typed(h.handle)(ctx, function.Call{Caller: caller, Body: json.RawMessage(body)})
	if err != nil {
		return Response{}, 0, err
	}
	return got.Body.(Response), got.Status, nil
}
