package gordo

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// pythonTime is how gordo writes a datetime that stands in a machine: the sign
// of the zone comes twice, and what reads it expects that.
func pythonTime(t py.Time) string {
	if !t.Aware {
		return t.Format("2006-01-02 15:04:05.000000+")
	}
	return t.Format("2006-01-02 15:04:05.000000+-0700")
}

var plainWriter = &py.Writer{Time: pythonTime}

// inertWriter writes what goes through a Workflow: JSON of the same meaning in
// which neither Argo nor Kubernetes finds anything to expand.
var inertWriter = &py.Writer{Time: pythonTime, Inert: true}

// Map is the machine as one mapping, as `normalize` prints it.
func (m *Machine) Map() *py.Map {
	return py.MapOf("name", m.Name, "dataset", m.Dataset, "model", m.Model, "metadata", m.Metadata,
		"runtime", m.Runtime, "project_name", m.Project, "evaluation", m.Evaluation)
}

// Map is the project as one mapping, as `normalize` prints it.
func (p *Project) Map() *py.Map {
	machines := make([]any, len(p.Machines))
	for i := range p.Machines {
		machines[i] = p.Machines[i].Map()
	}
	return py.MapOf("project_name", p.Name, "globals", p.Globals, "machines", machines)
}

// MarshalJSON writes the normalised project.
func (p *Project) MarshalJSON() ([]byte, error) {
	return plainWriter.Append(nil, p.Map())
}

// writable refuses what has no form in JSON.
func (r *report) writable(path string, v any) {
	if hasJSON(v) {
		return // no path is made for what is almost always fine
	}
	switch x := v.(type) {
	case py.Date:
		r.fail(path, "the date %s has no form in JSON: quote it, or give it a time and a zone", x.ISO())
	case []any:
		for i := range x {
			r.writable(strict.Index(path, i), x[i])
		}
	case *py.Map:
		for _, e := range x.Entries() {
			if _, err := py.KeyText(e.Key); err != nil {
				r.fail(path, "%v: quote the key", err)
			} else {
				r.writable(strict.Key(path, py.Text(e.Key)), e.Value)
			}
		}
	default:
		r.fail(path, "%s has no form in JSON", py.Kind(v))
	}
}

func hasJSON(v any) bool {
	switch x := v.(type) {
	case py.Date, []byte, py.Set:
		return false
	case []any:
		for i := range x {
			if !hasJSON(x[i]) {
				return false
			}
		}
	case *py.Map:
		for _, e := range x.Entries() {
			if _, text := e.Key.(string); !text {
				if _, err := py.KeyText(e.Key); err != nil {
					return false
				}
			}
			if !hasJSON(e.Value) {
				return false
			}
		}
	}
	return true
}

// Revision stands for a config that names no revision: the same config gives
// the same one.
func (p *Project) Revision() (string, error) {
	text, err := p.MarshalJSON()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "the project has no form in JSON: %v", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12], nil
}
