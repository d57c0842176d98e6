package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
)

// Argo's containers of a pod: the program, and what reports on it.
const (
	mainContainer = "main"
	waitContainer = "wait"
)

// source is one log: a container of an attempt's pod, or why there is none.
type source struct {
	part       part
	attempt    int
	restarted  bool
	started    time.Time
	pod        string
	uid        string
	host       string
	container  string
	named      bool // the answer names the container
	terminated bool
	// waits is why it has not begun to print; gone, why it cannot be read any more.
	waits, gone string
}

// key tells sources apart: pods of one name by their UIDs.
func (s source) key() string { return cmp.Or(s.uid, s.slot()) + "/" + s.container }

// slot is the place of an attempt, which pods of several UIDs may have had.
func (s source) slot() string { return fmt.Sprintf("%s/%d", s.part.path, s.attempt) }

// log is the answer's entry, as yet without a text.
func (s source) log() Log {
	l := Log{Pod: s.pod, Attempt: s.attempt, Terminated: s.terminated, Error: cmp.Or(s.gone, s.waits)}
	l.Task, l.Worker = s.part.name()
	if s.named {
		l.Container = s.container
	}
	return l
}

// sourcesOf gives the logs of an attempt; pod is the one of its name, if any.
func sourcesOf(p part, a status.Attempt, pod *corev1.Pod) []source {
	s := source{
		part: p, attempt: a.Attempt, restarted: a.Restarted, pod: a.Pod, uid: a.UID, host: a.Host,
		container: mainContainer, terminated: a.Restarted || a.Phase.Ended(),
	}
	if a.Started != nil {
		s.started = *a.Started
	}
	switch {
	case a.Restarted || (pod != nil && a.UID != "" && string(pod.UID) != a.UID):
		s.terminated, s.gone = true, "the pod was replaced by another of the same name, and its log is gone with it"
	case pod == nil && s.terminated:
		s.gone = gone
		if a.Message != "" { // also of an attempt that never got a pod
			s.gone += ": " + a.Message
		}
	case pod == nil:
		s.waits = notStarted
	default:
		return containersOf(s, pod)
	}
	return []source{s}
}

// containersOf gives the program's log. A pod of a foreign Workflow may have
// several programs, none of which is called main.
func containersOf(s source, pod *corev1.Pod) []source {
	s.host = cmp.Or(pod.Spec.NodeName, s.host)
	var names []string
	for _, container := range pod.Spec.Containers {
		if container.Name == mainContainer {
			names = []string{mainContainer}
			break
		}
		if container.Name != waitContainer {
			names = append(names, container.Name)
		}
	}
	sources := make([]source, len(names))
	for i, name := range names {
		s.container, s.named = name, len(names) > 1 || name != mainContainer
		s.terminated, s.waits = state(pod, name)
		sources[i] = s
	}
	return sources
}

const gone = "the pod is gone, and its log with it"

// notStarted is said of a program that has not begun; why it waits, status knows.
const notStarted = "not started"

// state says whether a container has ended, and why it has printed nothing.
func state(pod *corev1.Pod, container string) (terminated bool, waits string) {
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container })
	if at >= 0 {
		switch s := pod.Status.ContainerStatuses[at].State; {
		case s.Terminated != nil:
			return true, ""
		case s.Running != nil:
			return false, ""
		}
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true, "never started: " + said(pod.Status.Reason, pod.Status.Message)
	}
	return false, notStarted
}

func said(reason, message string) string {
	switch {
	case message == "":
		return cmp.Or(reason, "no reason is given")
	case reason == "":
		return message
	}
	return reason + ": " + message
}

// sortSources orders by part, workers by their numbers, then oldest first.
func sortSources(sources []source) {
	slices.SortStableFunc(sources, func(a, b source) int {
		return cmp.Or(
			compareParts(a.part, b.part), cmp.Compare(a.attempt, b.attempt), compareBool(b.restarted, a.restarted),
			a.started.Compare(b.started), strings.Compare(a.pod, b.pod),
		)
	})
}

// compareParts puts workers first, in the order of their numbers.
func compareParts(a, b part) int {
	return cmp.Or(strings.Compare(a.parent, b.parent), compareBool(b.worker >= 0, a.worker >= 0),
		cmp.Compare(a.worker, b.worker), strings.Compare(a.path, b.path))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
