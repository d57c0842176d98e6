package hook

import (
	"time"

	"github.com/runhook/runhook/pkg/function"
)

// Run is a run with the same label runhook/ref, as supersede looks at it.
type Run struct {
	Name    string
	Created time.Time
	Ended   bool
	Source  function.Origin // of its annotation runhook/source
}

// Late reports whether a later push of the same ref was seen, so that this one
// must neither run nor stop anything. Ended runs count: they are the proof.
func Late(push function.Origin, runs []Run) bool {
	for _, r := range runs {
		if follows(r.Source, push) {
			return true
		}
	}
	return false
}

// follows reports whether a push is known to come after another. A forced push
// may go back in time and in history, so only a forced one is known to follow it.
func follows(later, push function.Origin) bool {
	next := push.SHA != "" && later.Before == push.SHA
	if push.Forced {
		return next && later.Forced
	}
	return next || committedAfter(later, push)
}

func committedAfter(later, push function.Origin) bool {
	a, errA := time.Parse(time.RFC3339, later.Committed)
	b, errB := time.Parse(time.RFC3339, push.Committed)
	return errA == nil && errB == nil && a.After(b)
}

// Superseded names the runs that a push's run replaces, once that exists: those
// of the ref that go on and are not younger. A younger one belongs to a push
// that came after, also when this one is delivered again; so does one of the
// same second whose push is known to follow.
func Superseded(own Run, runs []Run) []string {
	var names []string
	for _, r := range runs {
		if r.Name != own.Name && !r.Ended && !r.Created.After(own.Created) && !follows(r.Source, own.Source) {
			names = append(names, r.Name)
		}
	}
	return names
}
