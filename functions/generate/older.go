package generate

import (
	"cmp"
	"time"
)

// made is a Workflow of a project.
type made struct {
	name, revision string
	created        time.Time // to the second, as Kubernetes keeps it
	ended          bool
}

// replaced names the unfinished Workflows of other revisions that are older
// than the first of this one. Of two revisions made in one second the one that
// sorts first is the older, so that never both replace each other. It is the
// rule of the project's own first step.
func replaced(project []made, revision string) []string {
	var first *made
	for i := range project {
		if m := &project[i]; m.revision == revision && (first == nil || m.created.Before(first.created)) {
			first = m
		}
	}
	var older []string
	for _, m := range project {
		if first == nil || m.revision == revision || m.ended {
			continue
		}
		if cmp.Or(m.created.Compare(first.created), cmp.Compare(m.revision, revision)) < 0 {
			older = append(older, m.name)
		}
	}
	return older
}
