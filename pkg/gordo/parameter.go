package gordo

import (
	"bytes"
	"slices"
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// Parameters writes machines as their builders and clients are given them. It
// is for one goroutine.
type Parameters struct {
	out, part []byte
	runtime   written
	influx    bool // what the runtime was written for
	evaluate  written
}

// written is the last mapping that was written, and its text: most machines
// share the runtime and the evaluation of globals.
type written struct {
	value *py.Map
	text  []byte
}

// Machine is one object of texts: the parts of the machine are JSON again. With
// influx its results go to Postgres too, and to MLflow where it logs there.
func (p *Parameters) Machine(m *Machine, influx bool) (string, error) {
	p.out = append(p.out[:0], '{')
	if p.influx != influx {
		p.influx, p.runtime.value = influx, nil
	}
	p.name("name", m.Name)
	err := p.json("dataset", m.Dataset)
	if err == nil {
		err = p.json("model", m.Model)
	}
	if err == nil {
		err = p.json("metadata", m.Metadata)
	}
	if err == nil {
		err = p.shared("runtime", m.Runtime, &p.runtime, func() *py.Map { return reporting(m, influx) })
	}
	p.name("project_name", m.Project)
	if err == nil {
		err = p.shared("evaluation", m.Evaluation, &p.evaluate, func() *py.Map { return m.Evaluation })
	}
	return string(append(p.out, '}')), err
}

// Provider is the machine's data provider, with sorted keys.
func (p *Parameters) Provider(m *Machine) (string, error) {
	b, err := inertWriter.Append(p.part[:0], sorted(m.Dataset.At("data_provider")))
	p.part = b
	return string(b), err
}

func (p *Parameters) key(name string) {
	if len(p.out) > 1 {
		p.out = append(p.out, ", "...)
	}
	p.out = append(append(append(p.out, '"'), name...), `": `...)
}

func (p *Parameters) name(key, value string) {
	p.key(key)
	p.out = inertWriter.Text(p.out, value)
}

func (p *Parameters) json(key string, v any) (err error) {
	p.key(key)
	if p.part, err = plainWriter.Append(p.part[:0], v); err != nil {
		return err
	}
	p.out = inertWriter.TextOf(p.out, p.part)
	return nil
}

func (p *Parameters) shared(key string, v *py.Map, last *written, full func() *py.Map) error {
	if last.value == v && v != nil {
		p.key(key)
		p.out = append(p.out, last.text...)
		return nil
	}
	start := len(p.out)
	if err := p.json(key, full()); err != nil {
		return err
	}
	_, text, _ := bytes.Cut(p.out[start:], []byte(": "))
	last.value, last.text = v, append(last.text[:0], text...)
	return nil
}

// reporting is a machine's runtime with the reporters that gordo adds.
func reporting(m *Machine, influx bool) *py.Map {
	reporters, _ := m.Runtime.At("reporters").([]any)
	added := append([]any(nil), reporters...)
	if influx {
		added = append(added, py.MapOf("gordo.reporters.postgres.PostgresReporter", py.MapOf("host", "gordo-postgres-"+m.Project)))
	}
	if py.Truthy(m.Runtime.MapAt("builder").MapAt("remote_logging").At("enable")) {
		added = append(added, "gordo.reporters.mlflow.MlFlowReporter")
	}
	if len(added) == len(reporters) {
		return m.Runtime
	}
	return m.Runtime.With("reporters", added)
}

func sorted(v any) any {
	m, ok := v.(*py.Map)
	if !ok {
		return v
	}
	entries := slices.Clone(m.Entries())
	slices.SortStableFunc(entries, func(a, b py.Entry) int { return strings.Compare(py.Text(a.Key), py.Text(b.Key)) })
	result := py.NewMap(len(entries))
	for _, e := range entries {
		result.Set(e.Key, sorted(e.Value))
	}
	return result
}
