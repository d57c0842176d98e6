// Package argotest holds tests that ask Argo's own code what it makes of our
// Workflows: its validation, and its replacement of {{…}} on the way to a pod.
// They stand apart since that code brings half of the controller with it.
package argotest

import (
	"errors"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
)

var policy = run.Policy{
	Priorities:  []string{"normal"},
	Resources:   corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
	VolumeKinds: []string{"emptyDir"},
	Secrets:     []string{"wandb"},
	Registry:    image.Registry{Host: "registry"},
	GitHosts:    image.GitHosts{TLS: []string{"git.lab"}},
}

var options = argo.Options{
	Namespace: "runs", Workers: "simrun/worker=true", Reservation: "simrun/reserved", ServiceAccount: "runner", Retries: 30,
	Priorities: map[string]argo.Priority{"normal": {Class: "normal", Extra: "normal-extra"}},
	Build:      image.Settings{Registry: image.Registry{Host: "registry", Auth: "login"}, Address: "tcp://buildkitd:1234", Image: "registry/buildkit:1", Timeout: 1800e9},
	Key:        "key", Caller: "ci", Source: `{"ref":"{{inputs.parameters.x}} {{=1+}}"}`, RefHash: "0123",
}

// templates is a cluster without WorkflowTemplates.
type templates struct{}

func (templates) Get(string) (*wfv1.WorkflowTemplate, error) { return nil, errors.New("none") }

type clusterTemplates struct{}

func (clusterTemplates) Get(string) (*wfv1.ClusterWorkflowTemplate, error) {
	return nil, errors.New("none")
}

// accepted gives Argo's word on a Workflow, as its controller and server ask for it.
func accepted(workflow *wfv1.Workflow) error {
	return validate.ValidateWorkflow(templates{}, clusterTemplates{}, workflow.DeepCopy(), nil, validate.ValidateOpts{Submit: true})
}

// render checks, fills and renders a run that must be a good one.
func render(t testing.TB, r *run.Run) *wfv1.Workflow {
	t.Helper()
	if err := r.Check(policy); err != nil {
		t.Fatal(err)
	}
	workflow, err := argo.Render(r.Fill(policy), options)
	if err != nil {
		t.Fatal(err)
	}
	return workflow
}

// globals are some of what Argo replaces everywhere: text that is not escaped
// would become these.
var globals = common.Parameters{"workflow.name": "REPLACED", "workflow.uid": "REPLACED", "workflow.namespace": "REPLACED"}

// pod gives a template as Argo puts it into a pod: first the inputs' turn,
// then that of the attempt.
func pod(t testing.TB, template *wfv1.Template, arguments wfv1.Arguments, attempt, lastMessage string) *wfv1.Template {
	t.Helper()
	processed, err := common.ProcessArgs(template, &arguments, globals, common.Parameters{}, false, "runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	processed, err = common.SubstituteParams(processed, globals, common.Parameters{
		"retries": attempt, "lastRetry.exitCode": "0", "lastRetry.status": "", "lastRetry.duration": "0", "lastRetry.message": lastMessage, "pod.name": "REPLACED",
	})
	if err != nil {
		t.Fatal(err)
	}
	return processed
}
