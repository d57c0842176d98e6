package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// Reason is why something does not run yet. The set is closed.
type Reason string

// The reasons.
const (
	Queued        Reason = "queued"        // Kueue has not admitted it
	Gated         Reason = "gated"         // another scheduling gate stands
	Unschedulable Reason = "unschedulable" // no node takes it
	Image         Reason = "image"         // the image cannot be pulled
	Starting      Reason = "starting"
	Dependencies  Reason = "dependencies"
	Suspended     Reason = "suspended"
	RetryBackoff  Reason = "retry-backoff"
	NodeLost      Reason = "node-lost" // beside Running: its node does not answer
)

// Waiting says why something does not run yet, and names what it waits for.
type Waiting struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail"` // what it waits for
}

// kueueGates is the prefix of Kueue's scheduling gates, admission and topology.
const kueueGates = "kueue.x-k8s.io/"

// waiting is why a task waits; nil when it does not, or nobody can say.
func (t *tree) waiting(name string, phase Phase) *Waiting {
	n := t.tasks[name]
	switch {
	case phase.Ended():
		return nil
	case n == nil && t.Spec.Suspend:
		return &Waiting{Suspended, "the Workflow is suspended"}
	case n == nil:
		return t.planWaiting(name)
	case phase == Running:
		return t.nodeLost(n)
	case n.Type == typeSuspend:
		return &Waiting{Suspended, n.Message}
	case t.composite(n):
		return nil // its parts say it
	case n.Type == typeRetry:
		return t.retryWaiting(n)
	}
	return t.podWaiting(n)
}

// namedNeeds is how many open needs a detail names: a merge needs up to 1,000.
const namedNeeds = 5

// planWaiting is why a task has no node yet: it needs others, or Argo has not
// come to it.
func (t *tree) planWaiting(name string) *Waiting {
	needs := t.needs(name)
	if len(needs) == 0 {
		return &Waiting{Starting, t.Status.Message}
	}
	detail := strings.Join(needs[:min(len(needs), namedNeeds)], ", ")
	if more := len(needs) - namedNeeds; more > 0 {
		detail = fmt.Sprintf("%s and %d more", detail, more)
	}
	return &Waiting{Dependencies, detail}
}

func (t *tree) retryWaiting(n *Node) *Waiting {
	attempts := t.attempts[n.ID]
	if len(attempts) == 0 {
		return nil
	}
	last := attempts[len(attempts)-1]
	if argoEnded(last.Phase) {
		return &Waiting{RetryBackoff, n.Message}
	}
	return t.podWaiting(last)
}

// podWaiting asks the pod, else what Argo copied of the pod to its node. The
// copy has the detail, too, where the pod has gone on and has none any more.
func (t *tree) podWaiting(n *Node) *Waiting {
	pod, copied := t.seen.pods[n.ID], copiedWaiting(n)
	if pod == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return copied
	}
	seen := PodWaiting(pod)
	if seen.Detail == "" && copied != nil && copied.Reason == seen.Reason {
		return copied
	}
	return seen
}

// copiedWaiting reads Argo's copy. A pod behind a gate leaves it empty.
func copiedWaiting(n *Node) *Waiting {
	reason, detail, _ := strings.Cut(n.Message, ": ")
	switch {
	case reason == "Unschedulable":
		return &Waiting{Unschedulable, detail}
	case cause.ImageReason(reason):
		return &Waiting{Image, n.Message}
	case reason == "PodInitializing" || reason == "ContainerCreating":
		return &Waiting{Starting, n.Message}
	}
	return nil
}

// PodWaiting says why a pod that has not ended does not run its program yet.
func PodWaiting(pod *corev1.Pod) *Waiting {
	if gates := pod.Spec.SchedulingGates; len(gates) > 0 {
		w := Waiting{Reason: Gated}
		var names []string
		for _, gate := range gates {
			names = append(names, gate.Name)
			if strings.HasPrefix(gate.Name, kueueGates) {
				w.Reason = Queued
			}
		}
		w.Detail = strings.Join(names, ", ")
		return &w
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return &Waiting{Unschedulable, c.Message}
		}
	}
	detail := ""
	for _, containers := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range containers {
			w := c.State.Waiting
			if w == nil {
				continue
			}
			text := strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
			if cause.ImageReason(w.Reason) {
				return &Waiting{Image, text}
			}
			if detail == "" {
				detail = text
			}
		}
	}
	return &Waiting{Starting, detail}
}

// nodeLost tells a pod that the taint manager wants deleted and whose node
// does not answer: the node's controller has set it unready, while the kubelet,
// which alone could end its containers, still has them ready.
func (t *tree) nodeLost(n *Node) *Waiting {
	pod := t.seen.pods[t.lastPod(n).ID]
	if pod == nil || pod.DeletionTimestamp == nil || pod.Status.Phase != corev1.PodRunning {
		return nil
	}
	status := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, c := range pod.Status.Conditions {
		status[c.Type] = c
	}
	tainted := status[corev1.DisruptionTarget].Status == corev1.ConditionTrue && status[corev1.DisruptionTarget].Reason == "DeletionByTaintManager"
	silent := status[corev1.PodReady].Status == corev1.ConditionFalse && status[corev1.ContainersReady].Status == corev1.ConditionTrue
	if !tainted || !silent {
		return nil
	}
	return &Waiting{NodeLost, pod.Spec.NodeName}
}
