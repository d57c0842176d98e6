package buildimage

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

// removal is how long the cluster takes to remove what is left of a build
// whose time is over.
const removal = 2 * time.Second

// start makes the build's Job, or finds the one that an equal request has
// made; one that stands still since whoever made it went away is set going.
func (b builder) start(ctx context.Context, build image.Build, caller string) (*batchv1.Job, error) {
	job, err := b.cluster.CreateJob(ctx, b.settings.Job(build, caller))
	if fault.KindOf(err) == fault.Conflict {
		job, err = b.existing(ctx, build, err)
	}
	if err != nil {
		return nil, err
	}
	if job.Spec.Suspend == nil || !*job.Spec.Suspend {
		return job, nil
	}
	if build.Git == nil {
		if err := b.provide(ctx, build, job); err != nil {
			return nil, err
		}
	}
	resumed, err := b.cluster.ResumeJob(ctx, job.Name, job.UID)
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Invalid {
		// It went away meanwhile, or another has its name now.
		return nil, leaving("the former build " + job.Name)
	}
	return resumed, err
}

// existing finds the Job that has the build's name.
func (b builder) existing(ctx context.Context, build image.Build, conflict error) (*batchv1.Job, error) {
	job, err := b.cluster.Job(ctx, build.Name())
	if fault.KindOf(err) == fault.NotFound {
		// Refused for another reason, such as a quota; or removed just now.
		return nil, conflict
	}
	if err != nil {
		return nil, err
	}
	if job.Annotations[image.KeyAnnotation] != build.Key() {
		return nil, fault.New(fault.Conflict, "the name %s is taken by a Job of something else", job.Name)
	}
	if job.DeletionTimestamp != nil {
		return nil, leaving("the former build " + job.Name)
	}
	return job, nil
}

// provide gives the Job its files.
func (b builder) provide(ctx context.Context, build image.Build, job *batchv1.Job) error {
	err := b.cluster.CreateConfigMap(ctx, image.ConfigMap(build, job))
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	present, lookup := b.cluster.ConfigMap(ctx, job.Name)
	if fault.KindOf(lookup) == fault.NotFound {
		return err
	}
	if lookup != nil {
		return lookup
	}
	for _, owner := range present.OwnerReferences {
		if owner.UID == job.UID && present.DeletionTimestamp == nil {
			return nil
		}
	}
	// That of a former Job of this name, whose end the cluster has not yet
	// followed: it would be removed beneath this build.
	return leaving("what is left of the former build " + job.Name)
}

func leaving(what string) error {
	f := fault.New(fault.Unavailable, "%s is being removed: ask again", what)
	f.RetryAfter = removal
	return f
}
