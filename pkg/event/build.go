package event

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

// Build is the data of an event about the building of an image.
type Build struct {
	Build   string      `json:"build"`
	Run     string      `json:"run,omitempty"` // whose task it is; empty: it was asked for by itself
	Ref     string      `json:"ref"`
	Phase   image.Phase `json:"phase"`
	Digest  string      `json:"digest"` // what buildctl says that it pushed
	Message string      `json:"message"`
	Started *time.Time  `json:"started"`
	Ended   *time.Time  `json:"ended"`
}

// OfBuild gives the events that the present state of a Job of build-image
// implies, of every phase that it has surely been in. The Job and what buildctl
// left in its pod are believed: the registry is not asked.
func OfBuild(job *batchv1.Job, pods []corev1.Pod, source string) []Event {
	is := image.ProgressOf(job, pods)
	if is.Silent {
		is = is.Confirm("", false)
	}
	now := Build{
		Build: job.Name, Ref: job.Annotations[image.RefAnnotation], Phase: is.Phase, Digest: is.Digest, Message: is.Message,
		Started: known(is.Began), Ended: known(is.Ended),
	}
	if now.Phase == image.Succeeded && now.Digest == "" {
		// Its pod's end is seen in a moment, or never: nothing says what was pushed.
		now.Phase, now.Ended = image.Building, nil
	}
	return buildEvents(now, job.CreationTimestamp.Time, source, string(job.UID), job.Name)
}

// buildEvents are those of the phases that a build has surely been in: none
// begins but as Pending, and what has started was Building.
func buildEvents(now Build, created time.Time, source, uid, subject string) []Event {
	var events []Event
	add := func(phase image.Phase, at *time.Time, data Build) {
		data.Phase = phase
		events = append(events, made(source, kind("build", string(phase)), subject, at, data, Event{Build: &data}, uid, "build", string(phase)))
	}
	begun := now
	begun.Ended, begun.Digest, begun.Message = nil, "", ""
	waits := begun
	waits.Started = nil
	if now.Phase == image.Pending {
		waits.Message = now.Message
	}
	add(image.Pending, known(created), waits)
	if now.Started != nil {
		add(image.Building, now.Started, begun)
	}
	if now.Phase.Ended() {
		add(now.Phase, now.Ended, now)
	}
	return events
}

// buildEvents tells of the task of a run that builds its image.
func (b *builder) buildEvents() {
	name := b.workflow.Metadata.Labels[image.BuildLabel]
	task, there := b.status.Tasks[run.BuildTask]
	if name == "" || b.helper != "" || !there || b.nodes[run.BuildTask] == "" {
		return
	}
	now := Build{Build: name, Run: b.run, Ref: b.workflow.Metadata.Annotations[image.RefAnnotation], Phase: image.Pending, Message: task.Message}
	var last *status.Attempt
	for i := range b.attempts {
		a := &b.attempts[i]
		if a.Task != run.BuildTask {
			continue
		}
		if started(*a) && (now.Started == nil || compareTimes(a.Started, now.Started) < 0) {
			now.Started = a.Started
		}
		if a.Phase.Ended() && (last == nil || compareTimes(a.Ended, last.Ended) > 0) {
			last = a
		}
	}
	now.Phase = buildPhase(task.Phase, last)
	if now.Phase.Ended() && last != nil {
		now.Ended = last.Ended
	}
	if now.Phase == image.Succeeded {
		now.Digest = b.pushed()
	}
	b.events = append(b.events, buildEvents(now, b.workflow.Metadata.CreationTimestamp, b.source, b.workflow.Metadata.UID, b.run+"/"+run.BuildTask)...)
}

// buildPhase is the phase of a build that is a task.
func buildPhase(phase status.Phase, last *status.Attempt) image.Phase {
	switch {
	case phase == status.Running:
		return image.Building
	case phase == status.Succeeded:
		return image.Succeeded
	case phase == status.Failed && last != nil && last.Cause == cause.Deadline:
		return image.TimedOut
	case phase.Ended():
		return image.Failed
	default:
		return image.Pending
	}
}

// pushed is the digest that the run's own build has left, as long as its pod is there.
func (b *builder) pushed() string {
	for i := range b.pods {
		if b.pods[i].Labels[image.BuildLabel] != "" {
			if digest := image.Pushed(&b.pods[i]); digest != "" {
				return digest
			}
		}
	}
	return ""
}

func known(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
