package image

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Phase is where a build stands.
type Phase string

// The phases of a build.
const (
	Pending   Phase = "Pending"   // no pod of it runs yet
	Building  Phase = "Building"  // its pod runs
	Succeeded Phase = "Succeeded" // the registry shows what buildctl wrote
	Failed    Phase = "Failed"    // it built nothing, or nothing arrived
	TimedOut  Phase = "TimedOut"  // it reached its limit
)

// Phases lists every phase.
var Phases = []Phase{Pending, Building, Succeeded, Failed, TimedOut}

// Ended reports whether a phase is final.
func (p Phase) Ended() bool { return p == Succeeded || p == Failed || p == TimedOut }

// Progress is how far a build is, as far as the cluster knows.
type Progress struct {
	// Phase is Succeeded when the Job is complete; the registry has the last word.
	Phase Phase
	// Digest is what buildctl says that it pushed. Silent: it has ended, and
	// said nothing.
	Digest string
	Silent bool
	// Message says why, where it is not in the log.
	Message string
	// Pod is the pod with the log; empty: it is gone.
	Pod string
	// Began is when buildctl did, Ended when the Job has; zero: not, or nobody knows.
	Began, Ended time.Time
}

// ProgressOf reads a Job and its pods.
func ProgressOf(job *batchv1.Job, pods []corev1.Pod) Progress {
	pod := newest(pods)
	progress := Progress{Phase: Pending, Began: began(pods)}
	if pod != nil {
		progress.Pod = pod.Name
		if pod.Status.Phase != corev1.PodPending {
			progress.Phase = Building
		} else {
			progress.Message = waiting(pod)
		}
	}
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			progress.Phase, progress.Ended = Succeeded, condition.LastTransitionTime.Time
			if pod != nil {
				progress.Digest = Pushed(pod)
				progress.Silent = progress.Digest == "" && endOf(pod) != nil
			}
		case batchv1.JobFailed:
			progress.Phase, progress.Ended, progress.Message = Failed, condition.LastTransitionTime.Time, condition.Message
			if condition.Reason == batchv1.JobReasonDeadlineExceeded {
				progress.Phase = TimedOut
			} else if end := endOf(pod); end != nil && end.ExitCode != 0 {
				// The Job only counts its pods.
				progress.Message = fmt.Sprintf("buildctl ended with exit code %d (%s)", end.ExitCode, end.Reason)
			}
		}
	}
	return progress
}

// Confirm compares what buildctl says with what the registry shows under the
// tag. An older image there is no proof of this build.
func (p Progress) Confirm(shown string, exists bool) Progress {
	if p.Phase != Succeeded {
		return p
	}
	fail := func(message string) Progress {
		p.Phase, p.Digest, p.Message = Failed, "", message
		return p
	}
	switch {
	case p.Digest == "":
		return fail("the build ended without saying what it pushed, or its pod is gone")
	case !exists:
		return fail("image not found: the registry has no such tag, though the build says that it pushed " + p.Digest)
	case shown != p.Digest:
		return fail("the registry shows " + shown + " under the tag, not " + p.Digest + " which this build says that it pushed: another may have pushed since")
	}
	return p
}

// waiting says why a pod does not start, such as an image that cannot be pulled.
func waiting(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if w := status.State.Waiting; w != nil && w.Message != "" {
			return w.Reason + ": " + w.Message
		}
	}
	return ""
}

// newest is the pod of the last try: the one before was lost with its node.
func newest(pods []corev1.Pod) *corev1.Pod {
	var last *corev1.Pod
	for i := range pods {
		if last == nil || last.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
			last = &pods[i]
		}
	}
	return last
}

// endOf is how the build's container ended; nil: it has not, or its pod is gone.
func endOf(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if pod != nil {
		for _, status := range pod.Status.ContainerStatuses {
			if status.Name == container || status.Name == argoContainer {
				return status.State.Terminated
			}
		}
	}
	return nil
}

// began is when the container of the first try did.
func began(pods []corev1.Pod) time.Time {
	var first time.Time
	for i := range pods {
		for _, status := range pods[i].Status.ContainerStatuses {
			at := time.Time{}
			if running := status.State.Running; running != nil {
				at = running.StartedAt.Time
			} else if ended := status.State.Terminated; ended != nil {
				at = ended.StartedAt.Time
			}
			if !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}

// Pushed reads the digest in the metadata that buildctl wrote, which the
// container of a build left as its termination message; empty: it says none.
func Pushed(pod *corev1.Pod) string {
	var metadata struct {
		Digest string `json:"containerimage.digest"`
	}
	if end := endOf(pod); end != nil {
		// What does not decode says no digest.
		_ = json.Unmarshal([]byte(end.Message), &metadata)
	}
	return metadata.Digest
}
