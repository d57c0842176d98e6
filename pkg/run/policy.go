package run

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/image"
)

// Policy is what the config allows in a run, and what it gives where a run
// says nothing.
type Policy struct {
	// Queue is the default queue; empty: none.
	Queue string
	// Priorities are the names that the config knows.
	Priorities []string
	// Resources are for programs that name none.
	Resources corev1.ResourceList
	// VolumeKinds are the volume sources that are allowed, as Kubernetes calls
	// them: persistentVolumeClaim, emptyDir.
	VolumeKinds []string
	// Claims and Secrets are the objects of the namespace that runs may use.
	Claims, Secrets []string
	// Registry is where builds push to, GitHosts where their contexts may come from.
	Registry image.Registry
	GitHosts image.GitHosts
}

// Fill gives a run in which what it left open is filled in: queue, images,
// resources, and what a merge has of its task. A run is checked before it is
// filled, so that mistakes are told where they were written.
func (r *Run) Fill(p Policy) *Run {
	filled := *r
	filled.Queue = either(r.Queue, p.Queue)
	filled.Tasks = make([]Task, len(r.Tasks))
	for i, task := range r.Tasks {
		task.Image = either(task.Image, r.image())
		task.Resources = orResources(task.Resources, p.Resources)
		if task.Split != nil && task.Split.Merge != nil {
			split, merge := *task.Split, *task.Split.Merge
			merge.Image = either(merge.Image, task.Image)
			merge.Resources = orResources(merge.Resources, p.Resources)
			if merge.Env == nil {
				merge.Env = task.Env
			}
			if merge.Mounts == nil {
				merge.Mounts = task.Mounts
			}
			split.Merge = &merge
			task.Split = &split
		}
		filled.Tasks[i] = task
	}
	return &filled
}

// image is for tasks that name none.
func (r *Run) image() string {
	if r.Image == "" && r.Build != nil {
		return r.Build.Ref
	}
	return r.Image
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func orResources(named map[string]Quantity, otherwise corev1.ResourceList) map[string]Quantity {
	if len(named) > 0 || len(otherwise) == 0 {
		return named
	}
	resources := make(map[string]Quantity, len(otherwise))
	for name, quantity := range otherwise {
		resources[string(name)] = Quantity(quantity.String())
	}
	return resources
}
