package hook

import (
	"strings"
)

// ignore says why a route takes no notice of an event, before its condition is
// asked; empty: it takes notice.
func (r *route) ignore(e *Event) Reason {
	switch {
	case !r.asks(e):
		if e.Type == Ping {
			return IgnoredPing
		}
		return IgnoredEvent
	case r.suspended:
		return IgnoredSuspended
	case e.Type == Alert && e.Status != firing:
		return IgnoredResolved
	}
	if e.isPush() {
		if reason := r.ignorePush(e); reason != "" {
			return reason
		}
	}
	if e.Sender != "" && r.senders[e.Sender] {
		return IgnoredSender
	}
	if r.skipCI && asksToSkip(e.Message) {
		return IgnoredSkipCI
	}
	return ""
}

// asks matches the types and the host's names. A push of a tag is a push.
func (r *route) asks(e *Event) bool {
	return r.events[string(e.Type)] || e.isPush() && r.events[string(Push)] || e.Name != "" && r.events[e.Name]
}

// ignorePush are the filters for pushes: without branches and tags a route
// takes all branches and no tags.
func (r *route) ignorePush(e *Event) Reason {
	neither := len(r.branches) == 0 && len(r.tags) == 0
	switch {
	case e.Deleted:
		return IgnoredDeletion
	case e.Type == Tag && !r.allTags && !r.tags.match(e.Tag):
		return IgnoredTag
	case e.Type == Push && (e.Branch == "" || !neither && !r.branches.match(e.Branch)):
		return IgnoredBranch
	case len(r.paths) > 0 && e.PathsComplete && !r.paths.matchAny(e.Paths):
		return IgnoredPath
	}
	return ""
}

// condition reports whether `when` holds; without one it does.
func (r *route) condition(v vars) (bool, error) {
	if r.when == nil {
		return true, nil
	}
	truth, err := r.when.truth(v)
	if err != nil {
		return false, failedAt("when", err)
	}
	return truth, nil
}

// asksToSkip finds the marks that hosts obey too.
func asksToSkip(message string) bool {
	message = strings.ToLower(message)
	for _, mark := range []string{"[skip ci]", "[ci skip]", "[no ci]"} {
		if strings.Contains(message, mark) {
			return true
		}
	}
	return false
}
