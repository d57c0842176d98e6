package argo

import (
	"maps"
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/run"
)

// container is the template of a program.
func (r renderer) container(name string, p *run.Program, env []corev1.EnvVar) wfv1.Template {
	return wfv1.Template{
		Name: name,
		Container: &corev1.Container{
			Image:           p.Image,
			Command:         escaped(p.Command),
			Args:            escaped(p.Args),
			Env:             env,
			Resources:       resources(p.Resources),
			VolumeMounts:    mounts(p.Mounts),
			SecurityContext: r.options.SecurityContext,
		},
		RetryStrategy: retryStrategy(p, r.options.Retries),
		PodSpecPatch:  memoryPatch(p),
	}
}

func escaped(words []string) []string {
	if words == nil {
		return nil
	}
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = run.Escape(word)
	}
	return texts
}

// resources are requests. Memory is the limit too, since its use cannot be
// taken back; what is counted in devices must be, says Kubernetes.
func resources(named map[string]run.Quantity) corev1.ResourceRequirements {
	var r corev1.ResourceRequirements
	for name, quantity := range named {
		parsed, ok := quantity.Parse()
		if !ok {
			continue
		}
		if r.Requests == nil {
			r.Requests, r.Limits = corev1.ResourceList{}, corev1.ResourceList{}
		}
		resource := corev1.ResourceName(name)
		r.Requests[resource] = parsed
		if resource != corev1.ResourceCPU && resource != corev1.ResourceEphemeralStorage {
			r.Limits[resource] = parsed
		}
	}
	return r
}

func mounts(named []run.Mount) []corev1.VolumeMount {
	var mounts []corev1.VolumeMount
	for _, m := range named {
		mounts = append(mounts, corev1.VolumeMount{Name: m.Name, MountPath: m.Path, ReadOnly: m.ReadOnly})
	}
	return mounts
}

// pinned requires a node by its name. spec.nodeName would pass by the
// scheduler, and a gated pod may not have it.
func pinned(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
				},
			}},
		},
	}}
}

// extraEnv says `true` to helpers and `false` to workers.
const extraEnv = "RUNHOOK_EXTRA"

// env gives what every task sees, what a part of a task sees, the params, and
// the run's and the program's variables: the program's win.
func (r renderer) env(task string, p *run.Program, part ...corev1.EnvVar) []corev1.EnvVar {
	env := []corev1.EnvVar{
		literal(run.Brace, "{"), // first, since the others refer to it
		literal("RUNHOOK_RUN", r.run.ID),
		literal("RUNHOOK_TASK", task),
		literal("RUNHOOK_ATTEMPT", "{{retries}}"),
	}
	env = append(env, part...)
	for _, name := range slices.Sorted(maps.Keys(r.run.Params)) {
		env = append(env, literal(run.ParamEnv(name), run.Escape(r.run.Params[name])))
	}
	merged := maps.Clone(r.run.Env)
	if merged == nil {
		merged = map[string]run.EnvValue{}
	}
	maps.Copy(merged, p.Env)
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		env = append(env, variable(name, merged[name]))
	}
	return env
}

func literal(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func variable(name string, value run.EnvValue) corev1.EnvVar {
	if value.Secret == nil {
		return literal(name, run.Escape(value.Text))
	}
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: value.Secret.Secret},
		Key:                  value.Secret.Key,
	}}}
}
