package gordo

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// The labels by which gordo's own tools find what belongs to a project.
const (
	LabelApp       = "app"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelName      = "app.kubernetes.io/name"
	LabelComponent = "app.kubernetes.io/component"
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelProject   = "applications.gordo.equinor.com/project-name"
	LabelRevision  = "applications.gordo.equinor.com/project-revision"
	LabelWorkflow  = "applications.gordo.equinor.com/project-workflow"
	LabelModel     = "applications.gordo.equinor.com/model-name"
)

var (
	reservedLabels       = []string{LabelApp, LabelManagedBy, LabelName, LabelComponent, LabelPartOf, LabelProject, LabelRevision, LabelWorkflow, LabelModel}
	reservedServerLabels = append([]string{"project"}, reservedLabels...)
)

func labels(name, env, usage string, reserved []string, field func(*Options) *map[string]string) Flag {
	return Flag{Name: name, Env: env, Usage: usage, set: func(o *Options, v string) error {
		if v == "" {
			return nil
		}
		read, warnings, err := parseLabels(v, reserved)
		for _, w := range warnings {
			w.Path = flagPath(Flag{Name: name}, w.Path)
			o.Warnings = append(o.Warnings, w)
		}
		*field(o) = read
		return err
	}}
}

// parseLabels reads a JSON object of labels. Values that are no text are
// written as Python writes them, with a warning.
func parseLabels(v string, reserved []string) (map[string]string, []Warning, error) {
	value, err := py.ReadJSON([]byte(v))
	if err != nil {
		return nil, nil, fmt.Errorf("is no JSON: %w", err)
	}
	m, ok := value.(*py.Map)
	if !ok {
		return nil, nil, fmt.Errorf("must be a mapping of labels, not %s", kindOf(value))
	}
	var r report
	labels := make(map[string]string, m.Len())
	for _, e := range m.Entries() {
		key := py.Text(e.Key)
		path := strict.Key("", key)
		text, isText := e.Value.(string)
		if !isText {
			text = py.Text(e.Value)
			r.warn(LabelText, path, "is no text and is written as %q: quote it", text)
		}
		for _, own := range reserved {
			if key == own {
				r.fail(path, "is a label that gordo sets itself: choose another key")
			}
		}
		if bad := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(text)...); len(bad) > 0 {
			r.fail(path, "is no label of Kubernetes: %s", strings.Join(bad, "; "))
		}
		labels[key] = text
	}
	return labels, r.warnings, r.problems.Err(fault.Invalid, "the labels are not valid")
}

// ReservedLabel reports whether gordo itself sets a label.
func ReservedLabel(key string) bool { return slices.Contains(reservedLabels, key) }
