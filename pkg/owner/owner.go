// Package owner says whose run a Workflow is, and who may see and change it.
package owner

import "github.com/runhook/runhook/pkg/function"

// What a Workflow says of its origin.
const (
	// RunLabel is the run's id, on every Workflow that runhook made, on helpers
	// and pods. ManagedBy could not tell: a project's Workflows keep gordo's.
	RunLabel = "runhook/run"
	// TaskLabel is the task's id, on pods and helpers.
	TaskLabel = "runhook/task"
	// ExtraOfLabel is the run's id, on helpers only: it tells them from runs.
	ExtraOfLabel = "runhook/extra-of"
	// ExtraLabel is a helper's number.
	ExtraLabel = "runhook/extra"
	// ManagedBy is the label of what runhook made from its own templates.
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

// Ours reports whether runhook made the Workflow that has these labels.
func Ours(labels map[string]string) bool { return labels[RunLabel] != "" }

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
	if !Ours(run.Labels) {
		return all && foreign
	}
	// An empty name is nobody's: it must not match a caller without a name.
	return all || (caller.Name != "" && run.Annotations[Annotation] == caller.Name)
}
