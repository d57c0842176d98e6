package workflow

import (
	_ "embed"
	"iter"
	"maps"
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

//go:embed scripts/ensure-single-workflow.sh
var ensureSingleWorkflow string

// life is how long a Workflow stays after its end, in seconds: 32 hours.
const life = int32(115200)

// Part is a run of machines that one Workflow builds.
type Part struct {
	Index    int
	Machines []gordo.Machine
	nodes    []node
}

// Parts splits the machines: so many each, and fewer where the Workflow would
// pass what the API server takes. Machines are written while it goes, so that
// only one part is held.
func (p *Plan) Parts() iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		count := p.options.SplitWorkflows
		if count < 0 || len(p.project.Machines) == 0 {
			return
		}
		base, err := (&Document{plan: p}).AppendJSON(nil)
		if err != nil {
			yield(Part{}, fault.Wrap(fault.Internal, err, "the Workflow has no form in JSON"))
			return
		}
		machines, names := p.project.Machines, suffixes(p.project.Machines)
		part, size, total := Part{}, len(base), 0
		for i := range machines {
			n, err := p.node(i, names[i])
			weight := n.weight()
			if total += weight; err == nil && total > limits.GordoOutput {
				err = fault.New(fault.TooLarge, "the Workflows pass %d bytes: make several projects", limits.GordoOutput)
			}
			if err != nil {
				yield(Part{}, err)
				return
			}
			if len(part.nodes) > 0 && (len(part.nodes)%count == 0 || size+weight > limits.Workflow) {
				if !yield(part, nil) {
					return
				}
				part, size = Part{Index: part.Index + 1}, len(base)
			}
			part.nodes = append(part.nodes, n)
			part.Machines = machines[i+1-len(part.nodes) : i+1]
			size += weight
		}
		yield(part, nil)
	}
}

// node writes a machine's JSON and checks that its builder can be given it.
func (p *Plan) node(i int, suffix string) (node, error) {
	m := &p.project.Machines[i]
	n := node{machine: m, suffix: suffix}
	influx := hasInflux(m)
	text, err := p.parameters.Machine(m, influx)
	if err == nil && influx {
		n.reads, err = p.parameters.Provider(m)
	}
	if err != nil {
		return n, fault.Wrap(fault.Invalid, err, "%s: %v", strict.Index("spec.config.machines", i), err)
	}
	if len(text) > limits.EnvEntry {
		return n, fault.New(fault.TooLarge, "%s: the machine %s takes %d bytes, and a builder is given at most %d",
			strict.Index("spec.config.machines", i), m.Name, len(text), limits.EnvEntry)
	}
	n.text, n.quoted = text, quote(make([]byte, 0, len(text)+len(text)/3), text)
	return n, nil
}

// weight is what a machine adds to a Workflow's JSON: its own JSON twice, its
// name in every task, and the tasks themselves.
func (n node) weight() int {
	const tasks = 1024
	return 2*len(n.quoted) + 2*len(n.reads) + 12*len(n.suffix) + tasks
}

// Documents makes one Workflow of each part.
func (p *Plan) Documents() iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		for part, err := range p.Parts() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&Document{p, part}, nil) {
				return
			}
		}
	}
}

// workflowMeta is the metadata of the Workflow of a part.
func (p *Plan) workflowMeta(part Part) *metav1.ObjectMeta {
	labels := map[string]string{
		gordo.LabelManagedBy: "gordo",
		gordo.LabelProject:   p.project.Name,
		gordo.LabelRevision:  p.options.Revision,
		gordo.LabelWorkflow:  strconv.Itoa(part.Index),
	}
	maps.Copy(labels, p.options.ResourcesLabels)
	return &metav1.ObjectMeta{
		GenerateName:    p.project.Name + "-" + p.options.Revision + "-",
		Namespace:       p.options.Namespace,
		Labels:          labels,
		Annotations:     map[string]string{"gordo-models": modelNames(part.Machines)},
		OwnerReferences: p.owners,
	}
}

// spec is the spec of every Workflow, without its templates.
func (p *Plan) spec() wfv1.WorkflowSpec {
	seconds := life
	return wfv1.WorkflowSpec{
		Entrypoint: "do-all", OnExit: "workflow-cleanup",
		TTLStrategy:     &wfv1.TTLStrategy{SecondsAfterCompletion: &seconds},
		SecurityContext: p.options.PodSecurityContext,
		Volumes:         p.allVolumes(),
	}
}

func (p *Plan) allVolumes() []corev1.Volume {
	return append([]corev1.Volume{
		{Name: "azurefile", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "azurefile"}}},
		{Name: "tmpdir", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}, p.volumes...)
}

// before are the templates before the model builder, in gordo's order.
func (p *Plan) before() []wfv1.Template {
	return append([]wfv1.Template{
		p.script(ensureSingle, ensureSingle, ensureSingleWorkflow, size("100M", "2m", "200M", "100m"),
			corev1.EnvVar{Name: "GORDO_PROJECT_NAME", Value: p.project.Name},
			corev1.EnvVar{Name: "GORDO_PROJECT_REVISION", Value: p.options.Revision},
			corev1.EnvVar{Name: "GORDO_LOG_LEVEL", Value: p.logLevel}),
		{
			Name: applyTemplate, Inputs: parameters("resource"), RetryStrategy: p.retry(applyRetries),
			Metadata: wfv1.Metadata{Labels: p.podLabels(applyTemplate)},
			Resource: &wfv1.ResourceTemplate{Action: "apply", Manifest: placeholder("resource")},
		},
	}, p.storage()...)
}

// after are the templates between the model builder and the DAG.
func (p *Plan) after() []wfv1.Template {
	list := append(p.scalers(), p.serving()...)
	list = append(list, p.predicting()...)
	list = append(list, p.storageCleanups()...)
	return append(list, p.cleanups()...)
}

// cleanups end the Workflow: what older revisions left goes, and so do this
// one's pods that have succeeded, unless somebody wants to look at them.
func (p *Plan) cleanups() []wfv1.Template {
	kinds := "deployments,services,models.equinor.com,horizontalpodautoscalers"
	if p.options.WithKeda {
		kinds += ",scaledobjects.keda.sh"
	}
	list := []wfv1.Template{p.deletion("cleanup", "gordo-cleanup", kinds, "--selector="+p.otherRevisions())}
	steps := sequence(call("cleanup"))
	if p.logLevel != "DEBUG" {
		own := gordo.LabelProject + "=" + p.project.Name + "," + gordo.LabelRevision + "=" + p.options.Revision
		list = append(list, p.deletion("cleanup-pods", "gordo-cleanup", "pods", "--selector="+own, "--field-selector=status.phase=Succeeded"))
		steps = append(steps, sequence(call("cleanup-pods"))...)
	}
	return append(list, wfv1.Template{Name: "workflow-cleanup", Steps: steps})
}
