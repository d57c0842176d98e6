package hook

// Reason says why a route ignored an event. The set is closed: it is a metric
// label.
type Reason string

// The reasons.
const (
	IgnoredPing       Reason = "ping"       // the host tried the hook
	IgnoredEvent      Reason = "event"      // another event than the route asks for
	IgnoredDeletion   Reason = "deletion"   // a branch or tag went away
	IgnoredBranch     Reason = "branch"     // the branch filter
	IgnoredTag        Reason = "tag"        // the tag filter
	IgnoredPath       Reason = "path"       // the path filter
	IgnoredSender     Reason = "sender"     // ignoreSenders
	IgnoredSkipCI     Reason = "skip-ci"    // the commit message asks for it
	IgnoredWhen       Reason = "when"       // the condition is false
	IgnoredSuspended  Reason = "suspended"  // the route is
	IgnoredDuplicate  Reason = "duplicate"  // this alert was acted on
	IgnoredSuperseded Reason = "superseded" // a later push was seen
	IgnoredMapping    Reason = "mapping"    // an expression failed on this payload
	IgnoredResolved   Reason = "resolved"   // the alert fires no more
	IgnoredNoMatch    Reason = "no-match"   // select found no run
)

// Reasons lists every reason, so that metrics can be created at 0.
var Reasons = []Reason{
	IgnoredPing, IgnoredEvent, IgnoredDeletion, IgnoredBranch, IgnoredTag, IgnoredPath, IgnoredSender,
	IgnoredSkipCI, IgnoredWhen, IgnoredSuspended, IgnoredDuplicate, IgnoredSuperseded, IgnoredMapping,
	IgnoredResolved, IgnoredNoMatch,
}
