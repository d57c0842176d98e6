package gordo

import (
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/version"
	"github.com/runhook/runhook/pkg/strict"
)

// Machine is one machine with everything laid over it that concerns it. Parts
// that machines have in common are shared and not to be changed.
type Machine struct {
	Name       string
	Project    string
	Dataset    *py.Map
	Model      any
	Metadata   *py.Map
	Runtime    *py.Map
	Evaluation *py.Map
	TrainStart py.Time
}

// buildMetadata is what a builder fills in.
var buildMetadata = py.MapOf(
	"model", py.MapOf(
		"model_offset", int64(0), "model_creation_date", nil, "model_builder_version", version.Gordo,
		"cross_validation", py.MapOf("scores", py.NewMap(0), "cv_duration_sec", nil, "splits", py.NewMap(0)),
		"model_training_duration_sec", nil, "model_meta", py.NewMap(0),
	),
	"dataset", py.MapOf("query_duration_sec", nil, "dataset_meta", py.NewMap(0)),
)

var noEvaluation = py.MapOf("cv_mode", fullBuild)

// machine lays globals and a machine together.
func (r *report) machine(i int, m *py.Map, globals *py.Map, o Normal) Machine {
	path := strict.Index(root+".machines", i)
	result := Machine{Project: o.Project}
	result.Name = r.machineName(path, m.At("name"), o.Project)
	result.Model = m.At("model")
	at := path + ".model"
	if !py.Truthy(result.Model) {
		result.Model = globals.At("model")
	}
	if !py.Truthy(result.Model) {
		r.fail(at, "is empty: name a model here or in globals")
	} else {
		r.model(at, result.Model)
	}
	result.Runtime = r.machineRuntime(path+".runtime", m, globals)
	result.Evaluation = r.machineEvaluation(path+".evaluation", m, globals)
	if dataset := r.machineDataset(path+".dataset", m, globals); dataset != nil {
		result.Dataset, result.TrainStart = r.dataset(path+".dataset", dataset, o.DefaultProvider)
	}
	result.Metadata = py.MapOf("user_defined", py.MapOf(
		"global-metadata", orEmpty(globals, "metadata", true), "machine-metadata", orEmpty(m, "metadata", false)),
		"build_metadata", buildMetadata)
	for _, key := range textFields {
		if v, there := m.Get(key); there {
			r.writable(path+"."+key, v)
		}
	}
	return result
}

// orEmpty is a value, or an empty mapping where it is absent, or where it is
// null and null counts as absent.
func orEmpty(m *py.Map, key string, nullIsAbsent bool) any {
	v, there := m.Get(key)
	if !there || nullIsAbsent && !py.Truthy(v) {
		return emptyMap
	}
	return v
}

var emptyMap = py.NewMap(0)

func (r *report) machineName(path string, v any, project string) string {
	path += ".name"
	name, ok := v.(string)
	if !ok {
		r.fail(path, "must be text, not %s: quote it", kindOf(v))
		return ""
	}
	if err := checkName(name); err != nil {
		r.fail(path, "%v", err)
		return name
	}
	if host := "gordoserver-" + project + "-" + name; len(host) > nameLength {
		r.fail(path, "%.100q has %d characters too many: the host %.200s has at most %d", name, len(host)-nameLength, host, nameLength)
	}
	return name
}

func (r *report) machineRuntime(path string, m, globals *py.Map) *py.Map {
	patch, there := m.Get("runtime")
	if !there {
		patch = emptyMap
	}
	before := r.problems.Len()
	merged := r.lay(path, globals.At("runtime"), patch)
	if merged != globals.At("runtime") { // that of globals was fixed before
		merged = r.fixRuntime(path, merged)
	}
	if r.failed(before) {
		return nil
	}
	runtime, _ := merged.(*py.Map)
	reporters, there := runtime.Get("reporters")
	list, ok := reporters.([]any)
	if there && !ok {
		r.fail(path+".reporters", "must be a list, not %s", kindOf(reporters))
	}
	for i, reporter := range list {
		switch reporter.(type) {
		case string, *py.Map:
		default:
			r.fail(strict.Index(path+".reporters", i), "must be a class path or a mapping, not %s", kindOf(reporter))
		}
	}
	if !there {
		return runtime.With("reporters", []any{})
	}
	return runtime
}

func (r *report) machineEvaluation(path string, m, globals *py.Map) *py.Map {
	lower, ok := globals.At("evaluation").(*py.Map)
	if !ok {
		return nil // told of once, with the globals
	}
	patch := m.At("evaluation")
	if patch == nil {
		if !py.Equal(lower.At("cv_mode"), fullBuild) {
			r.warn(CVModeLost, path, "is absent, so that cv_mode is full_build whatever globals say: write evaluation: {} to take that of globals")
		}
		patch = noEvaluation
	}
	merged, _ := r.lay(path, lower, patch).(*py.Map)
	return merged
}

// machineDataset lets globals win, as gordo does.
func (r *report) machineDataset(path string, m, globals *py.Map) *py.Map {
	lower, there := m.Get("dataset")
	if !there {
		lower = emptyMap
	}
	dataset, ok := lower.(*py.Map)
	if !ok {
		r.fail(path, "must be a mapping, not %s", kindOf(lower))
		return nil
	}
	upper, there := globals.Get("dataset")
	if !there {
		return dataset
	}
	if _, ok := upper.(*py.Map); !ok {
		return nil // told of once, with the globals
	}
	p := &patcher{
		onList: func(at string) { r.warnList(strict.Join(path, at)) },
		onOver: func(at string) {
			r.warn(GlobalsWin, strict.Join(path, at), "is overridden by globals.dataset: remove it there or here")
		},
	}
	merged, _ := p.root(dataset, upper).(*py.Map)
	return merged
}

// lay patches a machine's part over that of globals.
func (r *report) lay(path string, lower, upper any) any {
	if _, ok := upper.(*py.Map); !ok {
		r.warn(NotAMapping, path, "is %s, and lands under an empty key beside what globals say: leave it out", kindOf(upper))
	}
	p := &patcher{onList: func(at string) { r.warnList(strict.Join(path, at)) }}
	return p.root(lower, upper)
}

func (r *report) warnList(path string) {
	r.warn(ListMerged, path, "is merged index by index, and parts of the list below it stay: write as many items, with the same keys, as the list below has")
}
