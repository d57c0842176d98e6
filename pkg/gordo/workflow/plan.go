// Package workflow makes the Argo Workflows of a normalised project: the same
// templates, names, labels and applied objects as gordo's, from typed objects,
// so that nothing a user wrote is ever read as a template or by a shell.
package workflow

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/version"
	"github.com/runhook/runhook/pkg/limits"
)

// root is where the globals of a config stand.
const root = "spec.config.globals"

// Plan is everything that the Workflows of a project have in common. It keeps
// what it has written, and is for one goroutine.
type Plan struct {
	project *gordo.Project
	options gordo.Options

	owners   []metav1.OwnerReference
	tag      string
	policy   corev1.PullPolicy
	logLevel string

	deployer, server, metrics, builder, client container
	influx                                     corev1.ResourceRequirements
	env                                        []corev1.EnvVar
	mounts                                     []corev1.VolumeMount
	volumes                                    []corev1.Volume
	builderLabels                              map[string]string
	maxClients                                 string
	clients                                    int    // machines with influx, of the whole project
	servers                                    int    // most replicas
	expected                                   string // EXPECTED_MODELS
	argo2                                      bool
	parameters                                 gordo.Parameters
	common, commonYAML                         *fixed
}

// container is the image and the resources of one component.
type container struct {
	image     string
	resources corev1.ResourceRequirements
}

// New checks what generating needs beyond normalising. argoMajor is the major
// version of Argo.
func New(p *gordo.Project, o gordo.Options, argoMajor int) (*Plan, error) {
	r := &reader{}
	image, err := version.ParseImage(o.GordoVersion)
	if err != nil {
		return nil, err
	}
	plan := &Plan{
		project: p, options: o, owners: o.OwnerReferences, tag: image.Tag, policy: image.PullPolicy,
		builderLabels: map[string]string{}, servers: o.Servers, argo2: argoMajor == 2,
	}
	if o.PullPolicy != "" {
		plan.policy = corev1.PullPolicy(o.PullPolicy)
	}
	if o.Revision == "" {
		r.list.Add("--project-revision", "is missing")
	}
	if plan.servers == 0 {
		plan.servers = 10 * len(p.Machines)
	}
	plan.components(r)
	plan.readBuilder(r)
	plan.readMachines(r)
	return plan, r.err()
}

// Warnings are of what the options make of the project.
func (p *Plan) Warnings() []gordo.Warning {
	if p.options.SplitWorkflows >= 0 {
		return nil
	}
	return []gordo.Warning{{Code: gordo.NothingMade, Path: "--split-workflows", Detail: "is negative, and no Workflow is made: give a number of machines"}}
}

// components reads the parts of globals.runtime that have a container.
func (p *Plan) components(r *reader) {
	runtime := p.project.Globals.MapAt("runtime")
	for _, c := range []struct {
		name string
		into *container
	}{
		{"deployer", &p.deployer}, {"server", &p.server}, {"builder", &p.builder}, {"client", &p.client},
		{"prometheus_metrics_server", &p.metrics},
	} {
		path := root + ".runtime." + c.name
		m := r.mapping(path, runtime.At(c.name))
		if m == nil {
			continue
		}
		name := r.text(path+".image", m.At("image"))
		c.into.image = p.options.Registry + "/" + p.options.Repository + "/" + name + ":" + p.tag
		if c.name != "deployer" {
			c.into.resources = r.resources(path+".resources", m.At("resources"))
		}
	}
	p.metrics.image = p.server.image // gordo never reads the image of its own
	if client := runtime.MapAt("client"); client != nil {
		p.maxClients = r.count(root+".runtime.client.max_instances", client.At("max_instances"))
	}
	if influx := r.mapping(root+".runtime.influx", runtime.At("influx")); influx != nil {
		p.influx = r.resources(root+".runtime.influx.resources", influx.At("resources"))
	}
	p.logLevel = r.logLevel(root+".runtime.log_level", runtime, p.options.LogLevel)
	if v, there := runtime.Get("volumes"); there {
		p.volumes = r.volumes(root+".runtime.volumes", v)
	}
}

// readBuilder reads what only the builder's pods have.
func (p *Plan) readBuilder(r *reader) {
	path := root + ".runtime.builder"
	builder := p.project.Builder
	p.env = r.env(path+".env", builder.At("env"))
	if class := p.options.BuilderClass; class != "" {
		p.env = append(p.env, corev1.EnvVar{Name: "MODEL_BUILDER_CLASS", Value: class})
	}
	p.env = braced(p.env)
	p.mounts = r.mounts(path+".volumeMounts", builder.At("volumeMounts"))
	for _, e := range builder.MapAt("metadata").MapAt("labels").Entries() {
		r.label(path+".metadata.labels", p.builderLabels, py.Text(e.Key), py.Text(e.Value))
	}
	for key, value := range p.options.BuilderLabels {
		p.builderLabels[key] = value
	}
}

// readMachines counts the machines with influx and writes down their names.
func (p *Plan) readMachines(r *reader) {
	var names strings.Builder
	for i := range p.project.Machines {
		m := &p.project.Machines[i]
		if hasInflux(m) {
			p.clients++
		}
		names.WriteString(`"` + m.Name + `",`)
	}
	p.expected = "[" + names.String() + "]"
	if len(p.expected) > limits.EnvEntry {
		r.list.Add("spec.config.machines", "have names of %d bytes together, and a server takes %d: make several projects", len(p.expected), limits.EnvEntry)
	}
	r.influx(p.project.Machines)
}

// hasInflux reports whether a machine's predictions go to influx.
func hasInflux(m *gordo.Machine) bool {
	influx := m.Runtime.MapAt("influx")
	enable, there := influx.Get("enable")
	return !there || py.Truthy(enable)
}
