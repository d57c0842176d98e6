// Package cause says why an attempt ended. Argo alone does not know: a
// preempted pod reads "pod deleted" there, or an exit code that a program can
// write too. The proof is a condition that stands on the dying pod for 1 to 6
// seconds; an Entry keeps it, and Of decides by it. The package is pure.
package cause

import "strconv"

// Cause is why an attempt ended. The set is closed: it is a metric label.
type Cause string

// The causes, in the order in which Of looks for them.
const (
	// None is for an attempt that succeeded and was never interrupted.
	None Cause = ""

	Preempted            Cause = "preempted"              // Kueue made room for a workload of higher priority
	Evicted              Cause = "evicted"                // Kueue took the admission back for another reason
	PreemptedByScheduler Cause = "preempted-by-scheduler" // the scheduler made room for another pod
	Drained              Cause = "drained"                // the eviction API, as `kubectl drain` uses it
	Taint                Cause = "taint"                  // a NoExecute taint, also of a node that does not answer
	NodePressure         Cause = "node-pressure"          // the kubelet was low on a resource
	NodeShutdown         Cause = "node-shutdown"          // the kubelet shut its node down
	OOM                  Cause = "oom"                    // the main container went over its memory
	Deadline             Cause = "deadline"               // the pod's or the Workflow's
	Stopped              Cause = "stopped"                // somebody stopped or terminated the Workflow
	Image                Cause = "image"                  // the image could not be pulled
	Infrastructure       Cause = "infrastructure"         // node, executor or init container, not the program
	Application          Cause = "application"            // the program gave an exit code other than 0
	Deleted              Cause = "deleted"                // somebody deleted the pod
	Lost                 Cause = "lost"                   // the pod is gone, and nobody saw it end
)

// All lists every cause but None, so that metrics can be created at 0.
var All = []Cause{
	Preempted, Evicted, PreemptedByScheduler, Drained, Taint, NodePressure, NodeShutdown,
	OOM, Deadline, Stopped, Image, Infrastructure, Application, Deleted, Lost,
}

// Interruption reports whether a cause came from outside the program, so that
// the same attempt may well succeed elsewhere.
func (c Cause) Interruption() bool {
	switch c {
	case Preempted, Evicted, PreemptedByScheduler, Drained, Taint, NodePressure, NodeShutdown, Deleted, Lost:
		return true
	}
	return false
}

// imageReasons are the kubelet's reasons for a container whose image it does
// not get (k8s.io/kubernetes/pkg/kubelet/images and container).
var imageReasons = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"ImageInspectError": true, "RegistryUnavailable": true, "SignatureValidationFailed": true,
}

// ImageReason reports whether a container's waiting reason is about its image.
func ImageReason(reason string) bool { return imageReasons[reason] }

// MarshalJSON writes None as null.
func (c Cause) MarshalJSON() ([]byte, error) {
	if c == None {
		return []byte("null"), nil
	}
	return strconv.AppendQuote(nil, string(c)), nil
}
