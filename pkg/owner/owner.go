// Package owner says whose run a Workflow is, and who may see and change it.
package owner

import "github.com/runhook/runhook/pkg/function"

// What a Workflow says of its origin.
const (
	// ManagedBy is the label of every Workflow that runhook made.
	ManagedBy = "app.kubernetes.io/managed-by"
	// Name is its value.
	Name = "runhook"
	// Annotation holds the caller that asked for the run.
	Annotation = "runhook/caller"
)

// Foreign says what runhook does with Workflows that others made.
type Foreign string

// The values of `cluster.foreign`.
const (
	ForeignNone Foreign = "none" // they do not exist for runhook
	ForeignRead Foreign = "read" // status and logs
	ForeignAll  Foreign = "all"  // cancel and stop too
)

// Run is what the rules look at.
type Run struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// MaySee reports whether a run exists for a caller. What one may not see is
// answered like what is not there, so that names cannot be guessed.
func MaySee(caller function.Caller, run Run, foreign Foreign) bool {
	return allowed(caller, run, foreign != ForeignNone)
}

// MayChange reports whether a caller may cancel or stop a run that it sees.
func MayChange(caller function.Caller, run Run, foreign Foreign) bool {
	return allowed(caller, run, foreign == ForeignAll)
}

func allowed(caller function.Caller, run Run, foreign bool) bool {
	all := caller.AllRuns || caller.Everything
	if run.Labels[ManagedBy] != Name {
		return all && foreign
	}
	// An empty name is nobody's: it must not match a caller without a name.
	return all || (caller.Name != "" && run.Annotations[Annotation] == caller.Name)
}
