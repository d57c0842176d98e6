package event

import (
	"cmp"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/status"
)

// bringer is the attempt that brought a phase about. Its node makes the ids of
// two times in the same phase differ: a task that is preempted twice is so by
// two attempts.
type bringer struct {
	status.Attempt
	uid string // of a pod that was replaced, or that replaced one
}

func (b bringer) id() string { return b.NodeID + "/" + b.uid }

// bringer finds it among the attempts of a task (empty: of the run). What runs
// was brought to it by the attempt that has run longest; every other phase came
// with the end of the last attempt, and a wait after a failure with the end of
// one that failed. Nothing ends while nothing runs, so the answer stays the
// same for as long as the phase does. Several that run may end in turn: then a
// run that goes on running has another bringer, and the one that watches it
// sends nothing, for the phase is the same.
func (b *builder) bringer(task string, phase status.Phase) bringer {
	var found bringer
	previous := ""
	for _, a := range b.attempts {
		first := a.NodeID != previous
		previous = a.NodeID
		if !within(a.Task, task) {
			continue
		}
		candidate := bringer{a, uidUnless(!a.Restarted && first, a.UID)}
		switch {
		case phase == status.Running && a.Phase == status.Running:
			if found.NodeID == "" || compareAges(candidate.Started, found.Started, candidate, found) < 0 {
				found = candidate
			}
		case phase != status.Running && a.Phase.Ended():
			if waits := phase == status.Preempted || phase == status.Retrying; waits && a.Phase == status.Succeeded {
				continue
			}
			if found.NodeID == "" || compareAges(candidate.Ended, found.Ended, candidate, found) > 0 {
				found = candidate
			}
		}
	}
	return found
}

// within reports whether a task is another or inside of it: `fit.fit-0` of
// `fit`, `fan(3:x)` of `fan`. Everything is inside of the run.
func within(task, whole string) bool {
	rest, ok := strings.CutPrefix(task, whole)
	return whole == "" || (ok && (rest == "" || rest[0] == '.' || rest[0] == '('))
}

func compareAges(a, b *time.Time, x, y bringer) int {
	return cmp.Or(compareTimes(a, b), cmp.Compare(x.NodeID, y.NodeID), cmp.Compare(x.uid, y.uid))
}

// moment is when a phase began, as far as the Workflow tells: Argo knows when
// an attempt ended, and when it was made, which is not when it began to run.
func moment(by bringer, phase status.Phase, ended *time.Time) *time.Time {
	if phase == status.Running {
		return nil
	}
	if ended != nil {
		return ended
	}
	return by.Ended
}

func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}
