package capacity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// reserves reports whether a taint keeps a node for a run. A taint of the same
// key with another effect is somebody else's, and one without a run keeps the
// node for nobody.
func (s Settings) reserves(taint corev1.Taint) bool {
	return s.ours(taint) && taint.Value != ""
}

func (s Settings) ours(taint corev1.Taint) bool {
	return taint.Key == s.Reservation && taint.Effect == corev1.TaintEffectNoExecute
}

// ReservedFor is the run that a node is kept for; empty: none. The taint
// decides, since it is what keeps other pods away.
func (s Settings) ReservedFor(node *corev1.Node) string {
	for _, taint := range node.Spec.Taints {
		if s.reserves(taint) {
			return taint.Value
		}
	}
	return ""
}

// Reserve keeps a node for a run, in place of any other run: the label, which
// the run's pods select, and the taint, which drives other pods away. The other
// labels and taints stay. It reports whether anything had to change.
func (s Settings) Reserve(node *corev1.Node, run string) (changed bool) {
	want := corev1.Taint{Key: s.Reservation, Value: run, Effect: corev1.TaintEffectNoExecute}
	at := slices.IndexFunc(node.Spec.Taints, s.ours)
	switch {
	case at < 0:
		node.Spec.Taints = append(node.Spec.Taints, want)
		changed = true
	case node.Spec.Taints[at].Value != run:
		node.Spec.Taints[at] = want
		changed = true
	}
	if node.Labels[s.Reservation] != run {
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[s.Reservation] = run
		changed = true
	}
	return changed
}

// Unreserve takes a run's taint and label off a node, also where only one of
// the two is left. It reports whether anything had to change.
func (s Settings) Unreserve(node *corev1.Node, run string) (changed bool) {
	before := len(node.Spec.Taints)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return s.ours(taint) && taint.Value == run
	})
	changed = len(node.Spec.Taints) != before
	if value, ok := node.Labels[s.Reservation]; ok && value == run {
		delete(node.Labels, s.Reservation)
		changed = true
	}
	return changed
}
