package commitstatus

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/status"
)

func attempt(c cause.Cause) *event.Attempt {
	return &event.Attempt{Name: "fit", Attempt: status.Attempt{Cause: c}}
}

func exited(code int) *event.Attempt {
	a := attempt(cause.Application)
	a.ExitCode = &code
	return a
}

func TestEveryPhase(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended := started.Add(192 * time.Second)
	waiting := &event.Waiting{Task: "fit", Waiting: status.Waiting{Reason: status.Queued, Detail: "kueue.x-k8s.io/admission"}}
	for _, tc := range []struct {
		name  string
		run   event.Run
		state State
		words string
	}{
		{"nothing is known yet", event.Run{Phase: status.Pending}, Pending, "Pending"},
		{"queued", event.Run{Phase: status.Pending, Waiting: waiting}, Pending, "Pending: fit waits in its queue"},
		{"running", event.Run{Phase: status.Running, Started: &started}, Pending, "Running"},
		{"preempted", event.Run{Phase: status.Preempted, Attempt: attempt(cause.Preempted), Waiting: waiting}, Pending,
			"Preempted: fit was preempted by a run of higher priority; fit waits in its queue"},
		{"retrying", event.Run{Phase: status.Retrying, Attempt: exited(3)}, Pending, "Retrying: fit ended with exit code 3"},
		{"succeeded", event.Run{Phase: status.Succeeded, Started: &started, Ended: &ended}, Success, "Succeeded in 3m12s"},
		{"false success", event.Run{Phase: status.Succeeded, Started: &started, Ended: &ended, Attempt: attempt(cause.Drained)}, Success,
			"Succeeded, but fit exited with 0 although it was interrupted (drained): its work may be unfinished"},
		{"the program failed", event.Run{Phase: status.Failed, Message: "child failed", Attempt: exited(7)}, Failure, "Failed: fit ended with exit code 7"},
		{"the cluster failed", event.Run{Phase: status.Failed, Attempt: attempt(cause.Lost)}, Error, "Failed: the pod of fit was lost"},
		{"nothing ran", event.Run{Phase: status.Failed, Message: "invalid spec: x"}, Error, "Failed: invalid spec: x"},
		{"stopped", event.Run{Phase: status.Stopped, Message: "Stopped with strategy 'Terminate'"}, Error, "Stopped: Stopped with strategy 'Terminate'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.run.Source = &function.Origin{Route: "acme/train"}
			got := Of(tc.run, "https://hooks/functions/status?run=r")
			want := Status{State: tc.state, Context: "runhook/acme/train", Description: tc.words,
				TargetURL: "https://hooks/functions/status?run=r", Begun: tc.run.Phase != status.Pending}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every phase that a run may have is one of the four states, and every cause of
// a failure is said in words of its own.
func TestTheSetsAreWhole(t *testing.T) {
	for _, phase := range status.Phases {
		got := Of(event.Run{Phase: phase, Source: &function.Origin{}}, "")
		if phase.Ended() != (got.State != Pending) && phase != status.Skipped {
			t.Errorf("%s is %s", phase, got.State)
		}
	}
	said := map[string]cause.Cause{}
	for _, c := range cause.All {
		a := attempt(c)
		code := 1
		a.ExitCode, a.Reason = &code, "SomeReason"
		words := ended(a)
		if other, twice := said[words]; twice {
			t.Errorf("%s and %s both read %q", c, other, words)
		}
		said[words] = c
		fault := c == cause.Application || c == cause.OOM || c == cause.Deadline || c == cause.Image
		if got := blame(c); (got == Failure) != fault || got != Failure && got != Error {
			t.Errorf("%s is a %s", c, got)
		}
	}
	waiting := map[string]bool{}
	for _, reason := range []status.Reason{status.Queued, status.Gated, status.Unschedulable, status.Image, status.Starting, status.Suspended, status.RetryBackoff} {
		waiting[waits(&event.Waiting{Task: "fit", Waiting: status.Waiting{Reason: reason, Detail: "why"}})] = true
	}
	if len(waiting) != 7 || waiting["fit waits (why)"] {
		t.Errorf("reasons to wait read alike: %v", waiting)
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"short", "short"},
		{"ten letter", "ten letter"},
		{"eleven lett", "eleven le…"},
		{"eleven le tt", "eleven le…"},
		{"12345678 0123", "12345678…"},
		{"äöüäöüäöüäöü", "äöüäöüäöü…"},
		{"a\nb\tc\x00", "a b c "},
		{"a\xffb", "a�b"},
		{"a🐛b", "a�b"},
	} {
		if got := cut(tc.text, 10); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.text, got, tc.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("Failed", "application", "fit", "message", "acme/train", 140)
	f.Add("Pending", "", "fit\n\xff", strings.Repeat("ä", 300), "", 255)
	f.Fuzz(func(t *testing.T, phase, c, task, message, route string, most int) {
		if most < 1 {
			return
		}
		run := event.Run{Phase: status.Phase(phase), Message: message, Source: &function.Origin{Route: route},
			Attempt: &event.Attempt{Name: task, Attempt: status.Attempt{Cause: cause.Cause(c), Message: message, Reason: message}},
			Waiting: &event.Waiting{Task: task, Waiting: status.Waiting{Reason: status.Reason(c), Detail: message}}}
		s := Of(run, "")
		short := cut(s.Description, most)
		if utf8.RuneCountInString(short) > most || !utf8.ValidString(short) || strings.ContainsAny(short, "\n\r\x00") {
			t.Errorf("%q of at most %d", short, most)
		}
		if s.State != Pending && s.State != Success && s.State != Failure && s.State != Error {
			t.Errorf("state %q", s.State)
		}
	})
}
