package generate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/strict"
)

// runtime is where the parts of the config stand that a policy is about.
const runtime = "spec.config.globals.runtime"

// submittable holds the options against the config: what runs says of every
// run, it says of a project's too.
func submittable(o *gordo.Options, settings Settings, wrong *fault.List) {
	if o.Namespace != "" && o.Namespace != settings.Namespace {
		wrong.Add("options.namespace", "what is submitted is in the namespace %s", settings.Namespace)
	}
	if o.SecurityContext != nil {
		wrong.Add("options.security-context", "of what is submitted runs.securityContext of the config says it")
	}
	if o.PodSecurityContext != nil {
		wrong.Add("options.pod-security-context", "of what is submitted runs.podSecurityContext of the config says it")
	}
	if o.SplitWorkflows < 0 {
		wrong.Add("options.split-workflows", "is negative: there would be nothing to submit")
	}
	o.SecurityContext, o.PodSecurityContext = settings.SecurityContext, settings.PodSecurityContext
	for flag, labels := range map[string]map[string]string{
		"resources-labels": o.ResourcesLabels, "model-builder-labels": o.BuilderLabels, "server-labels": o.ServerLabels,
	} {
		for key := range labels {
			guardLabel(strict.Key("options."+flag, key), key, wrong)
		}
	}
}

// guarded are the prefixes of labels by which Argo, Kueue and runhook know
// their pods: who could set them could pass for another's run.
var guarded = []string{"runhook/", "workflows.argoproj.io/", "kueue.x-k8s.io/"}

func guardLabel(path, key string, wrong *fault.List) {
	if slices.ContainsFunc(guarded, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
		wrong.Add(path, "is a label of runhook, Argo or Kueue: choose another key")
	}
}

// mayRun tells everything that the config, or the caller's rights, do not
// allow of a project. A Workflow shows it all: its parts differ in machines only.
func (g generator) mayRun(caller function.Caller, project *gordo.Project, workflow *wfv1.Workflow) error {
	policy := g.settings.Policy
	var wrong fault.List
	g.allowed(policy, project, workflow, &wrong)
	if err := wrong.Err(fault.Invalid, "the project is not acceptable"); err != nil {
		return err
	}
	var denied fault.List
	if !caller.MayQueue("") {
		denied.Add("submit", "the caller may not submit runs without a queue, and a project has none")
	}
	policy.Secrets = slices.DeleteFunc(slices.Clone(policy.Secrets), func(name string) bool { return !caller.MaySecret(name) })
	policy.Claims = slices.DeleteFunc(slices.Clone(policy.Claims), func(name string) bool { return !caller.MayClaim(name) })
	g.allowed(policy, project, workflow, &denied)
	return denied.Err(fault.Forbidden, "the caller "+caller.Name+" may not submit this project")
}

func (g generator) allowed(policy run.Policy, project *gordo.Project, workflow *wfv1.Workflow, wrong *fault.List) {
	own := len(workflow.Spec.Volumes) - count(project.Globals.MapAt("runtime").At("volumes"))
	for i := range workflow.Spec.Volumes {
		volume := &workflow.Spec.Volumes[i]
		if i >= own {
			policy.CheckVolume(strict.Index(runtime+".volumes", i-own), volume, wrong)
			continue
		}
		var problems fault.List
		policy.CheckVolume("", volume, &problems)
		if err := problems.Err(fault.Invalid, ""); err != nil {
			for _, p := range fault.From(err).Problems {
				wrong.Add("submit", "every project mounts the volume %s; %s: %s", volume.Name, strings.TrimPrefix(p.Path, "."), p.Detail)
			}
		}
	}
	for _, e := range project.Builder.MapAt("metadata").MapAt("labels").Entries() {
		key := py.Text(e.Key)
		guardLabel(strict.Key(runtime+".builder.metadata.labels", key), key, wrong)
	}
	if builder := workflow.GetTemplateByName("model-builder"); builder != nil {
		g.environment(policy, builder.Container.Env, wrong)
	}
}

func count(list any) int {
	items, _ := list.([]any)
	return len(items)
}

// components is the ConfigMap that gordo's own variables come from.
const components = "gordo-components-config-map"

// environment looks at where the builders' variables come from; the clients
// have the same ones.
func (g generator) environment(policy run.Policy, env []corev1.EnvVar, wrong *fault.List) {
	for _, e := range env {
		path := strict.Key(runtime+".builder.env", e.Name) + ".valueFrom"
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil {
			policy.CheckSecret(path+".secretKeyRef.name", ref.Name, wrong)
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil && ref.Name != components && !slices.Contains(g.settings.ConfigMaps, ref.Name) {
			wrong.Add(path+".configMapKeyRef.name", "%.100q is not in gordo.configMaps of the config", ref.Name)
		}
		if e.ValueFrom.FileKeyRef != nil {
			wrong.Add(path+".fileKeyRef", "a project's variables come from no file")
		}
	}
}
