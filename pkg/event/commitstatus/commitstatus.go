// Package commitstatus shows the state of a run at the commit that started it:
// its events become statuses of the commit at the git host. Whose API is asked,
// with which token and for which repositories, the config says alone.
package commitstatus

import (
	"strings"
	"unicode"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
)

// State is what a host shows of a commit. The words are those of GitHub and Gitea.
type State string

// The states.
const (
	Pending State = "pending" // it waits or runs
	Success State = "success"
	Failure State = "failure" // the program failed
	Error   State = "error"   // something else did, or somebody stopped it
)

// Status is what a commit gets.
type Status struct {
	State State
	// Context tells the statuses of a commit apart; a new one replaces the last
	// one of its context.
	Context     string
	Description string
	TargetURL   string // empty: none
	// Begun is false while nothing of the run has run, which GitLab shows apart.
	Begun bool
}

// Commit is what gets a status.
type Commit struct {
	Repository string // as the config writes it
	SHA        string
	Ref        string
}

// Of is the status that a run's phase gives its commit. How long a description
// may be is the host's business.
func Of(r event.Run, link string) Status {
	state, words := verdict(r)
	return Status{
		State: state, Context: "runhook/" + r.Source.Route, Description: words, TargetURL: link,
		Begun: r.Phase != status.Pending,
	}
}

// verdict says a phase as a state and in words.
func verdict(r event.Run) (State, string) {
	a := r.Attempt
	switch {
	case r.Phase == status.Succeeded && a != nil:
		return Success, "Succeeded, but " + a.Name + " exited with 0 although it was interrupted (" + string(a.Cause) + "): its work may be unfinished"
	case r.Phase == status.Succeeded:
		return Success, "Succeeded" + took(r)
	case r.Phase == status.Failed && a != nil:
		return blame(a.Cause), "Failed: " + ended(a)
	case r.Phase == status.Failed: // nothing of it ran
		return Error, join(": ", "Failed", r.Message)
	case r.Phase == status.Stopped:
		return Error, join(": ", "Stopped", r.Message)
	}
	var reasons []string
	if a != nil {
		reasons = append(reasons, ended(a))
	}
	if r.Waiting != nil {
		reasons = append(reasons, waits(r.Waiting))
	}
	return Pending, join(": ", string(r.Phase), strings.Join(reasons, "; "))
}

func took(r event.Run) string {
	if r.Started == nil || r.Ended == nil {
		return ""
	}
	return " in " + r.Ended.Sub(*r.Started).String()
}

func join(between string, parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, between)
}

// cut makes a text one line of at most so many characters, of those that every
// host takes: GitHub refuses a text with one of four bytes.
func cut(text string, most int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r > 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "�")))
	if len(runes) <= most {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}
