package status

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// AllAttempts gives every attempt of a Workflow: those that have ended, then
// those that run or wait, which have no end and no cause yet.
func AllAttempts(w *Workflow, pods []corev1.Pod) []Attempt {
	t := newTree(w, look(w, pods))
	all := t.endedAttempts(func(*Node) bool { return true })
	keys, numbers := t.keys(), t.numbers()
	for id, n := range t.Status.Nodes {
		if n.Type != typePod || argoEnded(n.Phase) {
			continue
		}
		seen := t.seen.last(id)
		all = append(all, Attempt{
			Attempt: numbers[id], Phase: t.phase(n), Message: n.Message,
			Pod: cmp.Or(seen.Pod, podName(w, n)), Host: cmp.Or(seen.Host, n.Host), Started: moment(n.StartedAt),
			Task: t.tasksOf[id], Key: keys[t.tasksOf[id]], Node: cmp.Or(n.DisplayName, n.Name), NodeID: id, UID: seen.UID,
		})
	}
	return all
}

// Offloaded reports whether Argo keeps the nodes in its database only, so that
// no task and no attempt is known here.
func (w *Workflow) Offloaded() bool { return w.offloaded() }
