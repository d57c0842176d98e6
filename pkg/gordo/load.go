package gordo

import (
	"errors"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/yaml11"
	"github.com/runhook/runhook/pkg/strict"
)

// root is where the config stands in a project's custom resource. Paths begin
// with it for a plain config too, as gordo's do.
const root = "spec.config"

// Config is what a config file says, before anything is laid over anything.
type Config struct {
	Globals  *py.Map
	Machines []*py.Map
}

// textFields may hold YAML as text, in globals and in machines.
var textFields = []string{"model", "dataset", "evaluation", "metadata", "runtime"}

// Load reads a config: plain, or as the `spec.config` of a custom resource.
func Load(text []byte) (Config, error) {
	v, err := yaml11.Load(text)
	if err != nil {
		return Config{}, yamlFault(err)
	}
	config, err := unwrap(v)
	if err != nil {
		return Config{}, err
	}
	m, ok := config.(*py.Map)
	if !ok {
		return Config{}, fault.New(fault.Invalid, "%s: must be a mapping with machines, not %s", root, kindOf(config))
	}
	var r report
	c := Config{Globals: r.globals(m), Machines: r.machines(m)}
	return c, r.err()
}

// unwrap takes the config out of a custom resource.
func unwrap(v any) (any, error) {
	m, ok := v.(*py.Map)
	if !ok {
		return v, nil
	}
	spec, ok := m.Get("spec")
	if !ok {
		return v, nil
	}
	inner, ok := spec.(*py.Map)
	if !ok {
		return nil, fault.New(fault.Invalid, "spec: must be a mapping with config, not %s", kindOf(spec))
	}
	config, ok := inner.Get("config")
	if !ok {
		return nil, fault.New(fault.Invalid, "%s: is missing: a file with spec holds the machines in spec.config", root)
	}
	return config, nil
}

func kindOf(v any) string {
	if v == nil {
		return "nothing"
	}
	return py.Kind(v)
}

func (r *report) globals(config *py.Map) *py.Map {
	v, there := config.Get("globals")
	m, ok := v.(*py.Map)
	if there && !ok {
		r.fail(root+".globals", "must be a mapping, not %s: leave it out when there is nothing to say", kindOf(v))
		return nil
	}
	return r.texts(root+".globals", m)
}

func (r *report) machines(config *py.Map) []*py.Map {
	v, there := config.Get("machines")
	list, ok := v.([]any)
	switch {
	case !there:
		r.fail(root+".machines", "is missing: a config has a list of machines")
	case !ok:
		r.fail(root+".machines", "must be a list, not %s", kindOf(v))
	}
	machines := make([]*py.Map, 0, len(list))
	for i, item := range list {
		if r.full() {
			break
		}
		path := strict.Index(root+".machines", i)
		m, ok := item.(*py.Map)
		if !ok {
			r.fail(path, "must be a mapping with name, not %s", kindOf(item))
			continue
		}
		if !py.Truthy(m.At("name")) {
			r.fail(path+".name", "is empty: every machine has a name")
		}
		machines = append(machines, r.texts(path, m))
	}
	return machines
}

// texts reads the fields that hold YAML as text.
func (r *report) texts(path string, m *py.Map) *py.Map {
	result := m
	for _, field := range textFields {
		text, ok := m.At(field).(string)
		if !ok {
			continue
		}
		v, err := yaml11.LoadText(text)
		if err != nil {
			var e *yaml11.Error
			errors.As(err, &e)
			r.fail(strict.Join(path, stepsPath(field, e.Path)), "its text is no YAML: %v", e)
			continue
		}
		result = result.With(field, v)
	}
	return result
}

// yamlFault makes a fault of a mistake in the file itself.
func yamlFault(err error) error {
	var e *yaml11.Error
	if !errors.As(err, &e) {
		return fault.Wrap(fault.Malformed, err, "the config can't be read")
	}
	kind, detail := fault.Malformed, "the config is no YAML"
	if e.Large {
		kind, detail = fault.TooLarge, "the config is too large"
	}
	path := root
	if len(e.Path) > 0 {
		detail = "the config can't be read"
		path = stepsPath("", e.Path)
		if e.Path[0] != "spec" {
			path = strict.Join(root, path)
		}
	}
	var list fault.List
	list.Add(path, "%v", e)
	return list.Err(kind, detail)
}

func stepsPath(path string, steps []any) string {
	for _, step := range steps {
		if i, ok := step.(int); ok {
			path = strict.Index(path, i)
		} else {
			path = strict.Key(path, py.Text(step))
		}
	}
	return path
}
