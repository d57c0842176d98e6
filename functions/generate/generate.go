// Package generate makes the Argo Workflows of a machine-learning project's
// config, and submits them when it is asked to.
package generate

import (
	"context"
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/create"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/workflow"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// Cluster is what generate does on the cluster.
type Cluster interface {
	create.Cluster
	ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error)
	EachWorkflow(ctx context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error
}

// Settings are the parts of the config that generate follows.
type Settings struct {
	Namespace string
	Policy    run.Policy
	// ConfigMaps are those that a project may read.
	ConfigMaps []string
	Foreign    owner.Foreign
	// PodLabel is the key by which the cluster's pods of runs are known.
	PodLabel           string
	SecurityContext    *corev1.SecurityContext
	PodSecurityContext *corev1.PodSecurityContext
	ImagePullSecrets   []corev1.LocalObjectReference
}

// Request is a project's config with what the command line says by flags.
type Request struct {
	// Config is the config: its YAML as text, or an object.
	Config json.RawMessage `json:"config,omitempty"`
	// ConfigMap holds the config instead: one that the config of runhook lists.
	ConfigMap *ConfigMap `json:"configMap,omitempty"`
	// ProjectName is in the names of all that is made.
	ProjectName string `json:"projectName"`
	// Revision tells the project's revisions apart; without one it is made of
	// the normalised config, so that the same config is the same revision.
	Revision string `json:"revision,omitempty"`
	// Options are flags of the command `generate` by their names, and `strict`.
	Options map[string]json.RawMessage `json:"options,omitempty"`
	// Submit creates the Workflows instead of giving them.
	Submit bool `json:"submit,omitempty"`
}

// ConfigMap names a key of a ConfigMap in the namespace of the runs.
type ConfigMap struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Response holds the Workflows, or the runs that they have become.
type Response struct {
	Workflows []json.RawMessage `json:"workflows,omitempty"`
	Runs      []Run             `json:"runs,omitempty"`
	// Warnings are what of the config does not do what it seems to say.
	Warnings []gordo.Warning `json:"warnings"`
}

// Run is one Workflow of the project, and whether this call has made it.
type Run struct {
	Run     string `json:"run"`
	Created bool   `json:"created"`
}

// New makes the function. The function cancel ends what a newer revision replaces.
func New(cluster Cluster, cancel function.Function, settings Settings) function.Function {
	g := generator{cluster, cancel, settings}
	access := []function.Access{{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"create", "get", "list"}}}
	if len(settings.ConfigMaps) > 0 {
		access = append(access, function.Access{Resource: "configmaps", Verbs: []string{"get"}, Names: settings.ConfigMaps})
	}
	return function.Function{
		Name:     "generate",
		Summary:  "makes the Workflows of a machine-learning project's config, and submits them when asked",
		Access:   access,
		Request:  Request{},
		Response: Response{},
		DryRuns:  true,
		Check:    g.check,
		Handle:   function.Typed(g.handle),
	}
}

type generator struct {
	cluster  Cluster
	cancel   function.Function
	settings Settings
}

func (g generator) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	o, strict, err := request.options(g.settings)
	if err != nil {
		return function.Response{}, err
	}
	text, err := g.text(ctx, request)
	if err != nil {
		return function.Response{}, err
	}
	plan, project, err := planOf(text, o)
	if err != nil {
		return function.Response{}, inRequest(err)
	}
	warnings := append(append(o.Warnings, project.Warnings...), plan.Warnings()...)
	if err := gordo.Strict(warnings); strict && err != nil {
		return function.Response{}, inRequest(err)
	}
	response := Response{Warnings: make([]gordo.Warning, 0, len(warnings))}
	for _, w := range warnings {
		w.Path = requestPath(w.Path)
		response.Warnings = append(response.Warnings, w)
	}
	status := http.StatusOK
	if request.Submit {
		response.Runs, status, err = g.submit(ctx, call, submission{request, project, plan})
	} else {
		response.Workflows, err = printed(plan)
	}
	return function.Response{Status: status, Body: response}, err
}

// planOf makes everything of a config but the Workflows themselves. What has no
// revision gets that of its config.
func planOf(text []byte, o gordo.Options) (*workflow.Plan, *gordo.Project, error) {
	config, err := gordo.Load(text)
	if err != nil {
		return nil, nil, err
	}
	project, err := gordo.Normalize(config, o.Normal())
	if err != nil {
		return nil, nil, err
	}
	if o.Revision == "" {
		if o.Revision, err = project.Revision(); err != nil {
			return nil, nil, err
		}
	}
	const argo = 3
	plan, err := workflow.New(project, o, argo)
	return plan, project, err
}

// printed gives the Workflows as the command line prints them.
func printed(plan *workflow.Plan) ([]json.RawMessage, error) {
	var all []json.RawMessage
	size := 0
	for document, err := range plan.Documents() {
		if err != nil {
			return nil, err
		}
		text, err := document.AppendJSON(nil)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "a Workflow cannot be written")
		}
		if size += len(text); size > limits.GordoAnswer {
			return nil, fault.New(fault.TooLarge, "the Workflows pass the %d bytes of an answer: submit them, or use the command line", limits.GordoAnswer)
		}
		all = append(all, text)
	}
	return all, nil
}

// text is the config as YAML.
func (g generator) text(ctx context.Context, request Request) ([]byte, error) {
	if request.ConfigMap == nil {
		return yamlOf(request.Config)
	}
	from := *request.ConfigMap
	object, err := g.cluster.ConfigMap(ctx, from.Name)
	if err != nil {
		return nil, err
	}
	text, ok := object.Data[from.Key]
	if !ok {
		return nil, &fault.Error{Kind: fault.Invalid, Detail: notValid, Problems: []fault.Problem{{Path: "configMap.key", Detail: "the ConfigMap has no such key"}}}
	}
	return []byte(text), nil
}

// check says what is wrong with a request as far as can be told without the
// cluster. The config itself is looked at when it is there: a route takes it
// from its event.
func (g generator) check(raw json.RawMessage) error {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return fault.Wrap(fault.Malformed, err, "the request does not decode")
	}
	_, _, err := request.options(g.settings)
	return err
}
