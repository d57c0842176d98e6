package gordo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"

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

// MarshalJSON writes the normalised project.
func (p *Project) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := p.WriteJSON(&b)
	return b.Bytes(), err
}

// WriteJSON writes the normalised project machine by machine: a hundred
// thousand of them need not be held as text.
func (p *Project) WriteJSON(w io.Writer) error {
	b := plainWriter.Text([]byte(`{"project_name": `), p.Name)
	b, err := plainWriter.Append(append(b, `, "globals": `...), p.Globals)
	b = append(b, `, "machines": [`...)
	for i := range p.Machines {
		if err != nil {
			break
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = plainWriter.Append(b, p.Machines[i].Map()); err == nil {
			_, err = w.Write(b)
		}
		b = b[:0]
	}
	if err == nil {
		_, err = w.Write(append(b, "]}"...))
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the project can't be written as JSON: %v", err)
	}
	return nil
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
	sum := sha256.New()
	err := p.WriteJSON(sum)
	return hex.EncodeToString(sum.Sum(nil))[:12], err
}
