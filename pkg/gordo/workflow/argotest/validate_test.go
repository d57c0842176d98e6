// Package argotest asks Argo's own code what it makes of a project's Workflows:
// its validation, and its replacement of {{…}} on the way to a pod. It stands
// apart since that code brings half of the controller with it.
package argotest

import (
	"encoding/json"
	"errors"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"

	"github.com/runhook/runhook/pkg/gordo/cases"
	"github.com/runhook/runhook/pkg/gordo/command"
)

const testdata = "../../testdata"

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

// notMade are the cases that make no Workflow.
var notMade = map[string]bool{
	"flags-custom-template": true, "name-duplicate": true, "flags-labels-reserved-key": true,
	"resource-bool-ok": true, "resource-null-renders-none": true,
}

func TestArgoTakesEveryDocument(t *testing.T) {
	for _, name := range cases.Names(t, testdata, "workflow.json") {
		if notMade[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := cases.Play(t, testdata, command.Generate(nil), name, "-o", "json")
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			var documents []wfv1.Workflow
			if err := json.Unmarshal([]byte(got.Out), &documents); err != nil {
				t.Fatal(err)
			}
			for i := range documents {
				if err := accepted(&documents[i]); err != nil {
					t.Errorf("document %d: %v", i, err)
				}
			}
		})
	}
}
