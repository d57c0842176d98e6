package workflow

import (
	"encoding/json"
	"maps"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/gordo"
)

// The two tries of a template: applying is tried less often, since what it
// applies has its own life.
const (
	retries      = 5
	applyRetries = 4
)

func (p *Plan) retry(limit int) *wfv1.RetryStrategy {
	count, factor := intstr.FromInt32(int32(limit)), intstr.FromInt32(int32(p.options.RetryFactor))
	return &wfv1.RetryStrategy{
		Limit:       &count,
		RetryPolicy: wfv1.RetryPolicyAlways,
		Backoff:     &wfv1.Backoff{Duration: p.options.RetryDuration, Factor: &factor},
	}
}

// podLabels are the labels of a template's pods.
func (p *Plan) podLabels(app string) map[string]string {
	labels := map[string]string{
		gordo.LabelApp:      app,
		gordo.LabelProject:  p.project.Name,
		gordo.LabelRevision: p.options.Revision,
	}
	maps.Copy(labels, p.options.ResourcesLabels)
	return labels
}

// script is a template of one of our scripts in the deployer's image.
func (p *Plan) script(name, app, source string, resources corev1.ResourceRequirements, env ...corev1.EnvVar) wfv1.Template {
	return wfv1.Template{
		Name:          name,
		Metadata:      wfv1.Metadata{Labels: p.podLabels(app)},
		RetryStrategy: p.retry(retries),
		Script: &wfv1.ScriptTemplate{
			Container: corev1.Container{
				Image:           p.deployer.image,
				ImagePullPolicy: p.policy,
				Command:         []string{"bash"},
				Env:             env,
				Resources:       resources,
				SecurityContext: p.options.SecurityContext,
			},
			Source: source,
		},
	}
}

// deletion is a template that deletes objects by their labels.
func (p *Plan) deletion(name, app string, flags ...string) wfv1.Template {
	return wfv1.Template{
		Name:          name,
		Metadata:      wfv1.Metadata{Labels: p.podLabels(app)},
		RetryStrategy: p.retry(retries),
		Resource:      &wfv1.ResourceTemplate{Action: "delete", Flags: p.inNamespace(flags)},
	}
}

func (p *Plan) inNamespace(flags []string) []string {
	if p.options.Namespace != "" {
		flags = append(flags, "--namespace="+p.options.Namespace)
	}
	return flags
}

// otherRevisions selects what older revisions of the project left.
func (p *Plan) otherRevisions() string {
	return gordo.LabelProject + "=" + p.project.Name + "," + gordo.LabelRevision + "!=" + p.options.Revision
}

// statefulSet is a template that applies a StatefulSet and waits for it.
func (p *Plan) statefulSet(name string, object any) wfv1.Template {
	return wfv1.Template{
		Name:          name,
		RetryStrategy: p.retry(retries),
		Resource:      &wfv1.ResourceTemplate{Action: "apply", Manifest: manifest(object), SuccessCondition: "status.readyReplicas > 0"},
	}
}

const applyTemplate = "apply-with-retries"

// applying is a template of one step that applies an object.
func applying(name, manifest string, inputs ...string) wfv1.Template {
	return wfv1.Template{
		Name:   name,
		Inputs: parameters(inputs...),
		Steps:  sequence(wfv1.WorkflowStep{Name: applyTemplate, Template: applyTemplate, Arguments: arguments("resource", manifest)}),
	}
}

// sequence runs steps one after another.
func sequence(steps ...wfv1.WorkflowStep) []wfv1.ParallelSteps {
	list := make([]wfv1.ParallelSteps, len(steps))
	for i, s := range steps {
		list[i] = wfv1.ParallelSteps{Steps: []wfv1.WorkflowStep{s}}
	}
	return list
}

// call is a step that runs the template of its own name; what it takes it hands
// on from the inputs of the template around it.
func call(name string, inputs ...string) wfv1.WorkflowStep {
	step := wfv1.WorkflowStep{Name: name, Template: name}
	for _, input := range inputs {
		step.Arguments.Parameters = append(step.Arguments.Parameters, wfv1.Parameter{Name: input, Value: wfv1.AnyStringPtr(placeholder(input))})
	}
	return step
}

// placeholder is where Argo puts an input parameter.
func placeholder(name string) string { return "{{inputs.parameters." + name + "}}" }

func parameters(names ...string) wfv1.Inputs {
	var inputs wfv1.Inputs
	for _, name := range names {
		inputs.Parameters = append(inputs.Parameters, wfv1.Parameter{Name: name})
	}
	return inputs
}

func arguments(pairs ...string) wfv1.Arguments {
	var a wfv1.Arguments
	for i := 0; i+1 < len(pairs); i += 2 {
		a.Parameters = append(a.Parameters, wfv1.Parameter{Name: pairs[i], Value: wfv1.AnyStringPtr(pairs[i+1])})
	}
	return a
}

// size is requests and limits: memory and cpu each.
func size(requestMemory, requestCPU, limitMemory, limitCPU string) corev1.ResourceRequirements {
	list := func(memory, cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	return corev1.ResourceRequirements{Requests: list(requestMemory, requestCPU), Limits: list(limitMemory, limitCPU)}
}

// meta is the metadata of an applied object.
func (p *Plan) meta(name, app, component, kind string) metav1.ObjectMeta {
	labels := p.podLabels(app)
	labels[gordo.LabelName] = kind
	labels[gordo.LabelComponent] = component
	labels[gordo.LabelPartOf] = "gordo"
	labels[gordo.LabelManagedBy] = "gordo"
	return metav1.ObjectMeta{Name: name, Namespace: p.options.Namespace, Labels: labels, OwnerReferences: p.owners}
}

// manifest is an object as it is applied: without the status that typed objects
// carry.
func manifest(object any) string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // objects of our own making always have a form in JSON
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		panic(err)
	}
	delete(m, "status")
	if spec, ok := m["spec"].(map[string]any); ok {
		claims, _ := spec["volumeClaimTemplates"].([]any)
		for _, claim := range claims {
			delete(claim.(map[string]any), "status")
		}
	}
	text, _ = json.Marshal(m)
	return string(text)
}
