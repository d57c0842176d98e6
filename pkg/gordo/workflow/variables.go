package workflow

import (
	"github.com/runhook/runhook/pkg/gordo/py"
)

// defaultNamespace is what a template sees where no namespace is given.
const defaultNamespace = "kubeflow"

// Variables are what a user's own template sees of a part, by gordo's names.
func (p *Plan) Variables(part Part, argo string) map[string]any {
	machines := make([]any, len(part.Machines))
	names := make([]any, len(part.Machines))
	for i := range part.Machines {
		machines[i], names[i] = plainValue(part.Machines[i].Map()), part.Machines[i].Name
	}
	runtime := p.project.Globals.MapAt("runtime")
	namespace := p.options.Namespace
	if namespace == "" {
		namespace = defaultNamespace
	}
	level := p.project.ReportLevel
	if level == "" {
		level = "TRACEBACK"
	}
	component := func(name string) any { return plainValue(runtime.MapAt(name).At("resources")) }
	return map[string]any{
		"project_name": p.project.Name, "project_revision": p.options.Revision, "project_workflow": part.Index,
		"machines": machines, "target_names": names,
		"max_server_replicas": p.servers, "client_total_instances": p.clients, "client_max_instances": p.maxClients,
		"enable_influx": p.clients > 0, "image_pull_policy": string(p.policy), "namespace": namespace, "argo_version": argo,
		"builder_exceptions_report_level": level, "builder_exceptions_report_file": reportFile,
		"server_resources": component("server"), "builder_resources": component("builder"), "client_resources": component("client"),
		"influx_resources": component("influx"), "prometheus_metrics_server_resources": component("prometheus_metrics_server"),
		"log_level": p.logLevel, "gordo_version": p.tag,
		"docker_registry": p.options.Registry, "docker_repository": p.options.Repository,
	}
}

// plainValue is a value without the types of package py.
func plainValue(v any) any {
	switch x := v.(type) {
	case *py.Map:
		m := make(map[string]any, x.Len())
		for _, e := range x.Entries() {
			m[py.Text(e.Key)] = plainValue(e.Value)
		}
		return m
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = plainValue(x[i])
		}
		return list
	case py.Time:
		return x.Text()
	case py.Date:
		return x.ISO()
	}
	return v
}
