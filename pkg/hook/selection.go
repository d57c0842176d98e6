package hook

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation"

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
	checkQueue(path+".queue", spec.Queue.Literal, problems)
	if spec.Limit < 0 {
		problems.Add(path+".limit", "%d is not a number of runs", spec.Limit)
	}
	return &selection{
		phase: compileText(path+".phase", spec.Phase, problems),
		queue: compileText(path+".queue", spec.Queue, problems),
		limit: max(spec.Limit, 1),
	}
}

// checkQueue refuses what is no name of a queue. An expression without {cel:}
// would be one by its letters, and no run would ever be in it.
func checkQueue(path, name string, problems *fault.List) {
	root, _, dotted := strings.Cut(name, ".")
	switch {
	case name == "":
	case dotted && (root == "event" || root == "payload"):
		problems.Add(path, "is the queue's name as it is written; an expression is {cel: %s}", name)
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		problems.Add(path, "%q is no name of a queue; an expression is {cel: event.labels.queue}", name)
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
