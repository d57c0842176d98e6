package buildimage

import (
	"context"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
)

// progress says how far a build is, with the end of its log when it failed.
func (b builder) progress(ctx context.Context, job *batchv1.Job, build image.Build) (image.Progress, string, error) {
	pods, err := b.cluster.Pods(ctx, map[string]string{batchv1.ControllerUidLabel: string(job.UID)})
	if err != nil {
		return image.Progress{}, "", err
	}
	progress := image.ProgressOf(job, pods)
	if progress.Phase == image.Succeeded {
		digest, exists, err := b.registry.Digest(ctx, build.Ref)
		if err != nil {
			return image.Progress{}, "", err
		}
		progress = progress.Confirm(digest, exists)
	}
	if progress.Phase != image.Failed || progress.Pod == "" {
		return progress, "", nil
	}
	log, err := b.cluster.LogTail(ctx, progress.Pod, limits.BuildLogLines)
	if err != nil {
		progress.Message += "; its log cannot be read: " + err.Error()
		return progress, "", nil
	}
	return progress, tail(build.Args.Blacken(strings.ToValidUTF8(string(log), "�"))), nil
}

// tail cuts a log to its end, at the beginning of a line where there is one.
func tail(log string) string {
	if len(log) <= limits.BuildLogBytes {
		return log
	}
	log = log[len(log)-limits.BuildLogBytes:]
	if _, lines, found := strings.Cut(log, "\n"); found {
		return lines
	}
	return strings.ToValidUTF8(log, "")
}
