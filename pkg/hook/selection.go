package hook

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
)

// Selection says which runs an alert is about, with its expressions evaluated.
type Selection struct {
	Phase string
	Queue string // empty: any
	Limit int    // longest in the phase first
}

// selection is the compiled form.
type selection struct {
	phase, queue func(vars) (string, error)
	limit        int
}

func (h *Hook) compileSelect(path string, spec *SelectSpec, problems *fault.List) *selection {
	if h.kind != alertmanagerName {
		problems.Add(path, "only alerts select runs: the provider must be %s", alertmanagerName)
	}
	if spec.Phase == (Text{}) {
		problems.Add(path+".phase", "say which phase the runs are in")
	}
	if name := spec.Phase.Literal; name != "" && !slices.Contains(status.Phases, status.Phase(name)) {
		problems.Add(path+".phase", "%q is none of %s", name, phases())
	}
	if spec.Limit < 0 {
		problems.Add(path+".limit", "%d is not a number of runs", spec.Limit)
	}
	return &selection{
		phase: compileText(path+".phase", spec.Phase, problems),
		queue: compileText(path+".queue", spec.Queue, problems),
		limit: max(spec.Limit, 1),
	}
}

func phases() string {
	names := make([]string, len(status.Phases))
	for i, p := range status.Phases {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// compileText makes one function of a literal and of an expression.
func compileText(path string, text Text, problems *fault.List) func(vars) (string, error) {
	if text.CEL == "" {
		return func(vars) (string, error) { return text.Literal, nil }
	}
	x, err := compileExpression(text.CEL, environment)
	switch {
	case err != nil:
		problems.Add(path, "%v", err)
	case !x.gives(cel.StringType):
		problems.Add(path, "gives a %s where a text is needed", x.kind)
	}
	return x.text
}

func (s *selection) selection(v vars) (*Selection, error) {
	phase, err := s.phase(v)
	if err != nil {
		return nil, failedAt("select.phase", err)
	}
	queue, err := s.queue(v)
	if err != nil {
		return nil, failedAt("select.queue", err)
	}
	return &Selection{Phase: phase, Queue: queue, Limit: s.limit}, nil
}
