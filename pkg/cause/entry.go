package cause

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations and labels that Argo sets on the pods of a Workflow.
const (
	NodeAnnotation = "workflows.argoproj.io/node-id"
	WorkflowLabel  = "workflows.argoproj.io/workflow"
)

// FromRecord is the Source of an entry that a Sensor reported.
const FromRecord = "record"

// messageBytes is how much of a pod's status message is kept: the kubelet's
// sentences are told apart by their beginning.
const messageBytes = 120

// Entry is what one pod, by its UID, showed of its end.
type Entry struct {
	UID     string    `json:"uid"`
	Node    string    `json:"node"` // Argo's node id
	Pod     string    `json:"pod"`
	Host    string    `json:"host,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Deleted is when the deletion was asked for, not when the grace period ends.
	Deleted    time.Time   `json:"deleted,omitzero"`
	Reason     string      `json:"reason,omitempty"`  // of the pod's status
	Message    string      `json:"message,omitempty"` // of the pod's status, its beginning
	Conditions []Condition `json:"conditions,omitempty"`
	Main       *Exit       `json:"main,omitempty"`
	Source     string      `json:"source,omitempty"` // empty: the watch saw it
}

// Condition is a TerminationTarget or DisruptionTarget that stood on the pod.
type Condition struct {
	Type   string    `json:"type"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// Exit is the end of the main container.
type Exit struct {
	Code     int       `json:"code"`
	Reason   string    `json:"reason,omitempty"`
	Finished time.Time `json:"finished,omitzero"`
}

// The conditions that prove an interruption.
const (
	terminationTarget = "TerminationTarget" // Kueue's, just before it deletes a pod
	disruptionTarget  = string(corev1.DisruptionTarget)
)

// Proves reports whether a pod's condition proves an interruption.
func Proves(c corev1.PodCondition) bool {
	t := string(c.Type)
	return c.Status == corev1.ConditionTrue && (t == terminationTarget || t == disruptionTarget)
}

// Observe gives what a pod shows, and whether that is worth keeping: anything
// that Argo's own node may not tell later. A healthy pod, and one that is
// cleaned up after its end, shows nothing of the kind.
func Observe(pod *corev1.Pod) (Entry, bool) {
	entry := Entry{
		UID: string(pod.UID), Node: pod.Annotations[NodeAnnotation], Pod: pod.Name, Host: pod.Spec.NodeName,
		Created: second(pod.CreationTimestamp.Time),
		Reason:  pod.Status.Reason, Message: beginning(pod.Status.Message),
		Main: mainExit(pod),
	}
	if pod.DeletionTimestamp != nil {
		grace := time.Duration(0)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		}
		entry.Deleted = second(pod.DeletionTimestamp.Add(-grace))
	}
	for _, c := range pod.Status.Conditions {
		if Proves(c) {
			entry.Conditions = append(entry.Conditions, Condition{Type: string(c.Type), Reason: c.Reason, At: second(c.LastTransitionTime.Time)})
		}
	}
	slices.SortFunc(entry.Conditions, compareConditions)
	return entry, entry.worthKeeping()
}

func (e Entry) worthKeeping() bool {
	if e.UID == "" || e.Node == "" {
		return false
	}
	return len(e.Conditions) > 0 || e.Reason != "" || (e.Main != nil && e.Main.Code != 0) || e.deletedBeforeEnd()
}

// deletedBeforeEnd reports whether somebody asked for the deletion while the
// program ran. In the second of its end it is taken to be the deletion's work.
func (e Entry) deletedBeforeEnd() bool {
	return !e.Deleted.IsZero() && (e.Main == nil || !e.Main.Finished.Before(e.Deleted))
}

// mainExit finds the end of the program: of the container `main`, and in a
// container set, which names its own, of the first that failed, else the last.
func mainExit(pod *corev1.Pod) *Exit {
	var found *Exit
	for _, c := range pod.Status.ContainerStatuses {
		t := c.State.Terminated
		if t == nil || c.Name == executor {
			continue
		}
		exit := &Exit{Code: int(t.ExitCode), Reason: t.Reason, Finished: second(t.FinishedAt.Time)}
		if c.Name == mainContainer {
			return exit
		}
		if found == nil || found.Code == 0 {
			found = exit
		}
	}
	if found != nil && slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == mainContainer }) {
		return nil // a sidecar ended; the program has not
	}
	return found
}

// merge joins two sights of one pod. It is commutative, associative and
// idempotent, so that any number of watches may write the same evidence in
// any order.
func merge(a, b Entry) Entry {
	a.Node, a.Pod, a.Host = max(a.Node, b.Node), max(a.Pod, b.Pod), max(a.Host, b.Host)
	a.Reason, a.Message = max(a.Reason, b.Reason), max(a.Message, b.Message)
	a.Created, a.Deleted = earlier(a.Created, b.Created), earlier(a.Deleted, b.Deleted)
	a.Source = min(a.Source, b.Source) // what the watch saw itself needs no other witness
	a.Conditions = mergeConditions(a.Conditions, b.Conditions)
	if a.Main == nil || (b.Main != nil && compareExits(*b.Main, *a.Main) < 0) {
		a.Main = b.Main
	}
	return a
}

func mergeConditions(a, b []Condition) []Condition {
	both := slices.Concat(a, b)
	slices.SortFunc(both, compareConditions)
	return slices.CompactFunc(both, func(x, y Condition) bool { return x.Type == y.Type && x.Reason == y.Reason })
}

// compareConditions puts the earliest of equal conditions first, where
// mergeConditions keeps it.
func compareConditions(a, b Condition) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Reason, b.Reason), a.At.Compare(b.At))
}

func compareExits(a, b Exit) int {
	return cmp.Or(a.Finished.Compare(b.Finished), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// second cuts a time as Kubernetes writes it.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func beginning(text string) string {
	if len(text) <= messageBytes {
		return text
	}
	cut := messageBytes
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not inside a letter
		cut--
	}
	return text[:cut]
}
