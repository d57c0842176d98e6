package argo

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
)

// build is the run's first task: the pod of function build-image, so that it
// alone sees the registry's Secret (a template's own volumes go before the
// run's of the same name), but queued, placed and retried as the run is.
func (r renderer) build() (wfv1.Template, error) {
	settings := r.options.Build
	ref, err := settings.Registry.Parse(r.run.Build.Ref)
	if err != nil {
		return wfv1.Template{}, &fault.Error{Kind: fault.Invalid, Detail: "the run is not acceptable", Problems: []fault.Problem{{Path: "build.ref", Detail: fault.From(err).Detail}}}
	}
	pod := settings.Pod(image.Build{Ref: ref, Git: &r.run.Build.Git})
	container := pod.Containers[0]
	container.Name = "" // Argo calls it main
	return wfv1.Template{
		Name:                  "task-" + run.BuildTask,
		Metadata:              wfv1.Metadata{Labels: map[string]string{TaskLabel: run.BuildTask, image.BuildLabel: image.Build{Ref: ref, Git: &r.run.Build.Git}.Name()}},
		Container:             &container,
		Volumes:               pod.Volumes,
		SecurityContext:       pod.SecurityContext,
		RetryStrategy:         retryStrategy(&run.Program{}, r.options.Retries),
		ActiveDeadlineSeconds: new(intstr.FromInt32(int32(settings.Timeout.Seconds()))),
	}, nil
}
