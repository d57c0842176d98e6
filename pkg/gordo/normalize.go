// Package gordo turns the config of a machine-learning project into its
// machines, as gordo 6 does: what is absent gets gordo's defaults, globals and
// machines are laid over each other, everything is checked. Nothing is
// imported, nothing is run. docs/gordo.md says where it differs and why.
package gordo

import (
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// Normal is what normalising needs beside the config.
type Normal struct {
	Project         string
	Version         string // of gordo's images: decides their names
	DefaultProvider string // the type of a data provider that names none
	BuilderEnv      any    // environment of the builder under that of the config: a list, or nil
}

// Project is a normalised config.
type Project struct {
	Name        string
	Globals     *py.Map
	Machines    []Machine
	Builder     *py.Map // globals.runtime.builder by its schema
	ReportLevel string  // exceptions_report_level of the builder; empty: not given
	Warnings    []Warning
}

// Normalize makes a project of a config. Its error tells every mistake.
func Normalize(c Config, o Normal) (*Project, error) {
	r := &report{}
	if len(c.Machines) > 0 {
		if err := checkProject(o.Project); err != nil {
			return nil, fault.New(fault.Invalid, "--project-name: %v", err)
		}
	}
	p := &Project{Name: o.Project}
	p.Globals = r.layGlobals(c, o, p)
	if r.failed(0) {
		return nil, r.err()
	}
	names := make(map[string]int, len(c.Machines))
	p.Machines = make([]Machine, 0, len(c.Machines))
	for i, m := range c.Machines {
		machine := r.machine(i, m, p.Globals, o)
		if first, taken := names[machine.Name]; taken && machine.Name != "" {
			r.fail(strict.Index(root+".machines", i)+".name", "%.100q is already the name of machines[%d]", machine.Name, first)
		}
		names[machine.Name] = i
		if r.full() {
			break
		}
		p.Machines = append(p.Machines, machine)
	}
	p.Warnings = r.warnings
	return p, r.err()
}

// layGlobals lays the config's globals over the defaults and brings them to
// their schema.
func (r *report) layGlobals(c Config, o Normal, p *Project) *py.Map {
	path := root + ".globals"
	defaults := defaultGlobals(len(c.Machines), o.Version)
	if list, ok := o.BuilderEnv.([]any); ok && len(list) > 0 {
		runtime := defaults.MapAt("runtime")
		runtime = runtime.With("builder", runtime.MapAt("builder").With("env", r.env("--custom-model-builder-envs", list)))
		defaults = defaults.With("runtime", runtime)
	}
	globals, _ := r.lay(path, defaults, orMap(c.Globals)).(*py.Map)
	for _, field := range []string{"evaluation", "dataset"} {
		if v, there := globals.Get(field); there {
			r.anyMap(strict.Key(path, field), v)
		}
	}
	r.writable(path, orMap(c.Globals))
	path += ".runtime"
	before := r.problems.Len()
	runtime, _ := r.fixRuntime(path, globals.At("runtime")).(*py.Map)
	if r.failed(before) {
		return globals
	}
	p.Builder = r.builder(path+".builder", runtime.At("builder"))
	p.ReportLevel, _ = p.Builder.At(reportLevel).(string)
	p.Builder = p.Builder.Without(reportLevel)
	runtime = runtime.With("builder", p.Builder)
	if v, there := runtime.Get("volumes"); there {
		runtime = runtime.With("volumes", r.volumes(path+".volumes", v))
	}
	return globals.With("runtime", runtime)
}

func orMap(m *py.Map) *py.Map {
	if m == nil {
		return emptyMap
	}
	return m
}
