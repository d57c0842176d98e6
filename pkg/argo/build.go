package argo

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
)

// building is the image that the run builds first; nil: none.
func (r renderer) building() (*image.Build, error) {
	if r.run.Build == nil || r.options.ImageExists {
		return nil, nil
	}
	ref, err := r.options.Build.Registry.Parse(r.run.Build.Ref)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Invalid, Detail: "the run is not acceptable", Problems: []fault.Problem{{Path: "build.ref", Detail: fault.From(err).Detail}}}
	}
	return &image.Build{Ref: ref, Git: &r.run.Build.Git}, nil
}

// build is the run's first task: the pod of function build-image, so that it
// alone sees the registry's Secret (a template's own volumes go before the
// run's of the same name), but queued, placed and retried as the run is.
func (r renderer) build(build image.Build) wfv1.Template {
	settings := r.options.Build
	pod := settings.Pod(build)
	container := pod.Containers[0]
	container.Name = "" // Argo calls it main
	return wfv1.Template{
		Name:                  "task-" + run.BuildTask,
		Metadata:              wfv1.Metadata{Labels: map[string]string{TaskLabel: run.BuildTask, image.BuildLabel: build.Name()}},
		Container:             &container,
		Volumes:               pod.Volumes,
		SecurityContext:       pod.SecurityContext,
		RetryStrategy:         retryStrategy(&run.Program{}, r.options.Retries),
		ActiveDeadlineSeconds: new(intstr.FromInt32(int32(settings.Timeout.Seconds()))),
	}
}
