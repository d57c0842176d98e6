package hook

import (
	"encoding/json"
	"maps"
	"slices"

	"cel.dev/cel-go/common/types"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/strict"
)

// mapping makes a function's request: a literal, over which fields are laid.
type mapping struct {
	literal json.RawMessage
	fields  []field
	// check refuses what the function cannot decode.
	check func(json.RawMessage) error
}

type field struct {
	path  fieldPath
	value expression
}

// compileMapping checks every path and expression of a route. The shape of the
// request depends on the config alone, so that at run time only an expression
// can fail, or give a value of another type than the function takes.
func compileMapping(path string, spec *RouteSpec, opts Options, problems *fault.List) mapping {
	literal := spec.Request
	if literal == nil {
		literal = map[string]any{}
	}
	m := mapping{literal: json.RawMessage("{}"), check: func(request json.RawMessage) error { return opts.CheckRequest(spec.Function, request) }}
	encoded, err := json.Marshal(literal)
	if err == nil {
		_, err = parseObject(encoded)
	}
	if err != nil {
		problems.Add(path+".request", "not a request: %v", err)
		return m
	}
	m.literal = encoded
	env := environment
	if spec.Select != nil {
		env = selecting
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Set)) {
		at := strict.Key(path+".set", name)
		target, err := parseFieldPath(name)
		if err != nil {
			problems.Add(at, "%v", err)
			continue
		}
		value, err := compileExpression(spec.Set[name], env)
		if err != nil {
			problems.Add(at, "%v", err)
			continue
		}
		m.fields = append(m.fields, field{target, value})
	}
	slices.SortFunc(m.fields, func(a, b field) int { return compareFieldPaths(a.path, b.path) })
	m.checkShape(path, problems)
	return m
}

// checkShape tries where every field lands.
func (m mapping) checkShape(path string, problems *fault.List) {
	var shape any = m.object()
	for i, f := range m.fields {
		at := strict.Key(path+".set", f.path.String())
		if i > 0 && f.path.within(m.fields[i-1].path) {
			problems.Add(at, "lies within %s, which is set too", m.fields[i-1].path)
			continue
		}
		if _, err := f.path.assign(shape, nil); err != nil {
			problems.Add(at, "%v", err)
		}
	}
}

// object is a fresh copy of the literal.
func (m mapping) object() map[string]any {
	o, err := parseObject(m.literal)
	if err != nil {
		panic(err) // compileMapping has parsed these bytes
	}
	return o
}

// request runs the expressions and lays their values over the literal. Types
// that only the payload decides are checked here: a host would take the
// function's 422 for a broken hook.
func (m mapping) request(v vars) (json.RawMessage, error) {
	if len(m.fields) == 0 {
		return m.literal, nil
	}
	values := make([]any, len(m.fields))
	for i, f := range m.fields {
		var err error
		if values[i], err = f.value.value(v); err != nil {
			return nil, failedAt(strict.Key("set", f.path.String()), err)
		}
	}
	request, err := m.filled(values)
	if err != nil {
		return nil, failedAt("set", err)
	}
	if err := m.check(request); err != nil {
		return nil, m.refusal(err)
	}
	return request, nil
}

// sample is the request with a value of the right type in every field that is
// set, so that keys and types can be checked before anything was delivered.
// Where the type is known only at run time, it is one that check has nothing
// against, if there is any.
func (m mapping) sample() (json.RawMessage, error) {
	values := make([]any, len(m.fields))
	for i, f := range m.fields {
		values[i] = samplesOf(f.value)[0]
	}
	for i, f := range m.fields {
		samples := samplesOf(f.value)
		for _, values[i] = range samples {
			request, err := m.filled(values)
			if err != nil {
				return nil, err
			}
			if !complains(m.check(request), f.path) {
				break
			}
			values[i] = samples[0]
		}
	}
	return m.filled(values)
}

// filled lays values over the literal.
func (m mapping) filled(values []any) (json.RawMessage, error) {
	var request any = m.object()
	for i, f := range m.fields {
		var err error
		if request, err = f.path.assign(request, values[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(request)
}

// complains reports whether an error is about what stands at a path.
func complains(err error, at fieldPath) bool {
	if err == nil {
		return false
	}
	for _, p := range fault.From(err).Problems {
		if path, err := parseFieldPath(p.Path); err == nil && path.within(at) {
			return true
		}
	}
	return false
}

// samplesOf are values of an expression's type; one of each where that is known
// only at run time.
func samplesOf(x expression) []any {
	switch x.kind.Kind() {
	case types.NullTypeKind:
		return []any{nil}
	case types.BoolKind:
		return []any{true}
	case types.IntKind, types.UintKind:
		return []any{1}
	case types.DoubleKind:
		return []any{1.5}
	case types.StringKind, types.BytesKind:
		return []any{"x"}
	case types.TimestampKind:
		return []any{"2026-01-01T00:00:00Z"}
	case types.DurationKind:
		return []any{"1s"}
	case types.ListKind:
		return []any{[]any{}}
	case types.MapKind, types.StructKind:
		return []any{map[string]any{}}
	default:
		return []any{"x", 1, true, []any{}, map[string]any{}}
	}
}

// fills reports whether a path of the request lies at, under or above a field
// that is set: what stands there is only a sample.
func (m mapping) fills(text string) bool {
	path, err := parseFieldPath(text)
	if err != nil {
		return false
	}
	for _, f := range m.fields {
		if path.within(f.path) || f.path.within(path) {
			return true
		}
	}
	return false
}
