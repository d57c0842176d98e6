package record

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/strict"
)

// claim is what is said of a pod that is gone. Nobody can ask it any more: it is
// believed as far as nothing contradicts it.
type claim struct {
	Request
	node *status.Node
	// there is the pod that has the name now; nil: none has.
	there *corev1.Pod
	now   time.Time
}

// join adds the claim to what is known, or says what contradicts it.
func (c claim) join(known *cause.Evidence) (bool, error) {
	span, err := c.span(known.Entries())
	if err != nil {
		return false, err
	}
	if err := c.checkTimes(span); err != nil {
		return false, err
	}
	return known.ObserveAs(cause.FromRecord, c.pod(span)), nil
}

// span is the time in which an attempt's pod lived, as far as anybody knows.
type span struct {
	from, to time.Time
	// begun is when the pod was made; zero: the evidence says it already.
	begun time.Time
	// over says that what ended the attempt is known.
	over bool
}

// span finds the claimed pod among those that are known of its node. Argo
// starts the pod of a young node again under the same name: which UIDs that
// name has had is in the evidence, or nobody can tell them apart.
func (c claim) span(known []cause.Entry) (span, error) {
	s := span{from: c.node.StartedAt, to: c.node.FinishedAt, begun: c.node.StartedAt}
	s.over = !s.to.IsZero() && !cause.GoneMessage(c.node.Message)
	if s.to.IsZero() {
		s.to = c.now
	}
	found, others := false, c.there != nil
	for _, entry := range known {
		switch {
		case entry.UID == c.UID && entry.Node != c.node.ID:
			return span{}, another(c.Request)
		case entry.UID == c.UID:
			found, s.begun = true, time.Time{}
			s.from = latest(s.from, entry.Created)
		case entry.Node == c.node.ID && found:
			s.to, s.over = earliest(s.to, entry.Created), false
			return s, nil
		case entry.Node == c.node.ID:
			others = true
		}
	}
	if !found && others {
		return span{}, another(c.Request)
	}
	if c.there != nil {
		s.to, s.over = earliest(s.to, c.there.CreationTimestamp.Time), false
	}
	return s, nil
}

// checkTimes refuses conditions that came when the attempt did not run.
func (c claim) checkTimes(s span) error {
	until := s.to
	if c.node.FinishedAt.IsZero() && s.to.Equal(c.now) {
		until = until.Add(limits.RecordSkew)
	}
	var mistakes fault.List
	for i, condition := range c.Conditions {
		at := condition.LastTransitionTime.Time
		if cause.Proves(condition) && (at.Before(s.from) || at.After(until)) {
			mistakes.Add(strict.Key(strict.Index("conditions", i), "lastTransitionTime"),
				"not within the time of the attempt, from %s to %s", s.from.UTC().Format(time.RFC3339), s.to.UTC().Format(time.RFC3339))
		}
	}
	return mistakes.Err(fault.Conflict, "the conditions are not of this attempt")
}

// pod is the pod as it would have shown itself.
func (c claim) pod(s span) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, UID: types.UID(c.UID), CreationTimestamp: metav1.NewTime(s.begun),
			Annotations: map[string]string{cause.NodeAnnotation: c.node.ID},
		},
		Spec:   corev1.PodSpec{NodeName: c.node.Host},
		Status: corev1.PodStatus{Conditions: c.Conditions},
	}
	if c.Deleted && !s.over {
		// It was asked for at some time before; that it was is what counts.
		pod.DeletionTimestamp = &metav1.Time{Time: s.to}
	}
	return pod
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
