// Package submit creates the Workflow of a run, once.
package submit

import (
	"context"
	"encoding/json"
	"net/http"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/create"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/image/registry"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what submit does on the cluster.
type Cluster interface {
	create.Cluster
	Node(ctx context.Context, name string) (*corev1.Node, error)
	EachWorkflow(ctx context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error
}

// Registry says whether an image that a run would build is there already.
type Registry interface {
	Digest(ctx context.Context, ref image.Reference) (digest string, exists bool, err error)
}

// Settings are the parts of the config that submit follows.
type Settings struct {
	Policy  run.Policy
	Options argo.Options
	// StatusURL gives the link to a run's status.
	StatusURL func(run string) string
}

// Response says which run it is, and whether this call made it.
type Response struct {
	Run     string       `json:"run"`
	Created bool         `json:"created"`
	Phase   status.Phase `json:"phase"`
	// Status is the link to the run's status; without `publicURL` it is
	// relative to this server.
	Status string `json:"status"`
	// Workflow is the object that a dry run would have created.
	Workflow *wfv1.Workflow `json:"workflow,omitempty"`
}

// New makes the function. The function stop ends the runs that a push supersedes.
func New(cluster Cluster, images Registry, stop function.Function, settings Settings) function.Function {
	s := submitter{cluster, images, stop, settings}
	return function.Function{
		Name:    "submit",
		Summary: "creates the Workflow of a run, once",
		Access: append([]function.Access{
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"create", "get", "list"}},
			{Resource: "nodes", Verbs: []string{"get"}, Cluster: true},
		}, registry.LoginAccess(settings.Policy.Registry)...),
		DryRuns:  true,
		Request:  run.Run{},
		Response: Response{},
		Check:    s.check,
		Handle:   s.handle,
	}
}

type submitter struct {
	cluster  Cluster
	images   Registry
	stop     function.Function
	settings Settings
}

func (s submitter) handle(ctx context.Context, call function.Call) (function.Response, error) {
	asked, err := run.Decode(call.Body)
	if err != nil {
		return function.Response{}, err
	}
	key, err := keyOf(call, asked)
	if err != nil {
		return function.Response{}, err
	}
	if asked.ID == "" {
		asked.ID = nameFor(call, key)
	}
	if err := asked.Check(s.settings.Policy); err != nil {
		return function.Response{}, err
	}
	if err := mayRun(call.Caller, asked, s.settings.Policy); err != nil {
		return function.Response{}, err
	}
	if err := s.checkPins(ctx, asked); err != nil {
		return function.Response{}, err
	}
	built, err := s.built(ctx, asked.Build)
	if err != nil {
		return function.Response{}, err
	}
	workflow, err := s.render(call, asked, key, built)
	if err != nil {
		return function.Response{}, err
	}
	made := func() (function.Response, error) { return s.create(ctx, workflow, call.DryRun) }
	if call.Origin != nil && call.Origin.Supersedes {
		return s.supersede(ctx, call, made)
	}
	return made()
}

// check says what is wrong with a run, as far as the config alone can tell.
func (s submitter) check(request json.RawMessage) error {
	asked, err := run.Decode(request)
	if err != nil {
		return err
	}
	return asked.Check(s.settings.Policy)
}

// create makes the Workflow, or finds the one that the same request has made.
func (s submitter) create(ctx context.Context, workflow *wfv1.Workflow, dryRun bool) (function.Response, error) {
	response := Response{Run: workflow.Name, Created: true, Phase: status.Pending, Status: s.settings.StatusURL(workflow.Name)}
	created, present, err := create.Once(ctx, s.cluster, workflow, dryRun)
	switch {
	case err != nil:
		return function.Response{}, err
	case present != nil:
		response.Created, response.Phase = false, status.Of(present, nil, nil).Phase
		return function.Response{Status: http.StatusOK, Body: response}, nil
	case dryRun:
		response.Created, response.Workflow = false, created
		return function.Response{Status: http.StatusOK, Body: response}, nil
	}
	return function.Response{Status: http.StatusCreated, Body: response}, nil
}
