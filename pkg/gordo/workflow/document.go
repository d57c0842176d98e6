package workflow

import (
	"encoding/json"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Document is one Workflow of a project.
type Document struct {
	Workflow wfv1.Workflow
	argo2    bool
}

// spec2 is a spec for Argo 2, which knows the time to live by another name.
type spec2 struct {
	wfv1.WorkflowSpec
	TTLStrategy *wfv1.TTLStrategy `json:"ttlStrategy,omitempty"` // hides the one of Argo 3
	Seconds     int32             `json:"ttlSecondsAfterFinished"`
}

// MarshalJSON writes the Workflow as it is submitted: without a status.
func (d *Document) MarshalJSON() ([]byte, error) {
	printed := struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        *metav1.ObjectMeta `json:"metadata"`
		Spec            any                `json:"spec"`
	}{d.Workflow.TypeMeta, &d.Workflow.ObjectMeta, &d.Workflow.Spec}
	if d.argo2 {
		printed.Spec = spec2{WorkflowSpec: d.Workflow.Spec, Seconds: life}
	}
	return json.Marshal(printed)
}
