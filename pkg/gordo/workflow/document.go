package workflow

import (
	"encoding/json"
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/blockyaml"
)

// Document is one Workflow of a project.
type Document struct {
	plan *Plan
	part Part
}

// Part is which of the project's Workflows this is, from 0.
func (d *Document) Part() int { return d.part.Index }

// Machines are the machines that the Workflow builds.
func (d *Document) Machines() []gordo.Machine { return d.part.Machines }

// Workflow is the document as an object. Argo 2's own name for the time to
// live is in the text only.
func (d *Document) Workflow() *wfv1.Workflow {
	spec := d.plan.spec()
	spec.Templates = append(append(append(d.plan.before(), d.plan.modelBuilder(d.part.Index)), d.plan.after()...), d.plan.doAll(d.part.nodes))
	return &wfv1.Workflow{TypeMeta: workflowType, ObjectMeta: *d.plan.workflowMeta(d.part), Spec: spec}
}

var workflowType = metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: "Workflow"}

// spec2 is a spec for Argo 2, which knows the time to live by another name.
type spec2 struct {
	wfv1.WorkflowSpec
	TTLStrategy *wfv1.TTLStrategy `json:"ttlStrategy,omitempty"` // hides the one of Argo 3
	Seconds     int32             `json:"ttlSecondsAfterFinished"`
}

// fixed is what every document of a plan has in common, written once: with
// thousands of machines it would else be most of the work.
type fixed struct{ spec, before, after []byte }

// fixedJSON writes the common part; the templates are lists without brackets.
func (p *Plan) fixedJSON() (*fixed, error) {
	if p.common != nil {
		return p.common, nil
	}
	var spec any = p.spec()
	if p.argo2 {
		spec = spec2{WorkflowSpec: p.spec(), Seconds: life}
	}
	f := &fixed{}
	for _, part := range []struct {
		object any
		into   *[]byte
	}{{spec, &f.spec}, {p.before(), &f.before}, {p.after(), &f.after}} {
		text, err := json.Marshal(part.object)
		if err != nil {
			return nil, err
		}
		*part.into = text[1 : len(text)-1]
	}
	p.common = f
	return f, nil
}

// MarshalJSON writes the Workflow as it is submitted: without a status.
func (d *Document) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil) }

// AppendJSON writes the Workflow as it is submitted: without a status. It means
// the same as the JSON of the object.
func (d *Document) AppendJSON(b []byte) ([]byte, error) {
	f, meta, builder, err := d.pieces()
	if err != nil {
		return nil, err
	}
	b = append(b, `{"apiVersion":"`+workflowType.APIVersion+`","kind":"`+workflowType.Kind+`","metadata":`...)
	b = append(append(b, meta...), `,"spec":{`...)
	b = append(append(b, f.spec...), `,"templates":[`...)
	b = append(append(b, f.before...), ',')
	b = append(append(b, builder...), ',')
	b = append(append(b, f.after...), `,{"name":"do-all","dag":{"failFast":false,"tasks":[`...)
	for i, t := range d.plan.tasks(d.part.nodes) {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.appendJSON(b)
	}
	return append(b, `]}}]}}`...), nil
}

// AppendYAML writes what AppendJSON writes, as YAML.
func (d *Document) AppendYAML(b []byte) ([]byte, error) {
	_, meta, builder, err := d.pieces()
	if err != nil {
		return nil, err
	}
	f := d.plan.fixedYAML()
	b = append(b, "apiVersion: "+workflowType.APIVersion+"\nkind: "+workflowType.Kind+"\nmetadata:\n"...)
	b = append(append(blockyaml.Append(b, meta, 2), "spec:\n"...), f.spec...)
	b = append(append(b, "  templates:\n"...), f.before...)
	b = append(append(b, "  - "...), blockyaml.Append(nil, builder, 4)[4:]...)
	b = append(append(b, f.after...), "  - name: do-all\n    dag:\n      failFast: false\n      tasks:\n"...)
	for _, t := range d.plan.tasks(d.part.nodes) {
		b = t.appendYAML(b)
	}
	return b, nil
}

// fixedYAML is the common part as YAML, where it stands in the document.
func (p *Plan) fixedYAML() *fixed {
	if p.commonYAML == nil {
		f := p.common
		list := func(items []byte) []byte { return blockyaml.Append(nil, []byte("["+string(items)+"]"), 2) }
		p.commonYAML = &fixed{spec: blockyaml.Append(nil, []byte("{"+string(f.spec)+"}"), 2), before: list(f.before), after: list(f.after)}
	}
	return p.commonYAML
}

// pieces are the parts of a document that are not machines.
func (d *Document) pieces() (f *fixed, meta, builder []byte, err error) {
	if f, err = d.plan.fixedJSON(); err != nil {
		return nil, nil, nil, err
	}
	if meta, err = json.Marshal(d.plan.workflowMeta(d.part)); err != nil {
		return nil, nil, nil, err
	}
	builder, err = json.Marshal(d.plan.modelBuilder(d.part.Index))
	return f, meta, builder, err
}

// Submitted is the document as it is created: with a name that says what was
// asked, so that asking again finds it.
func (d *Document) Submitted() (*wfv1.Workflow, error) {
	w := d.Workflow()
	w.GenerateName, w.Name = "", w.GenerateName+strconv.Itoa(d.part.Index)
	if len(validation.IsDNS1123Label(w.Name)) > 0 {
		return nil, fault.New(fault.Invalid, "the Workflow's name %.100q is no DNS label of at most 63 characters: shorten the project's name or its revision", w.Name)
	}
	return w, nil
}
