package gordo

import (
	"math/big"
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// The builder and the volumes of globals have a schema. It brings what is
// written to the types of Kubernetes: numbers become text where text stands,
// nulls go, and keys that nobody knows are left out with a warning.

// text is a value as text: numbers and booleans as Python writes them.
func (r *report) text(path string, v any) any {
	switch v.(type) {
	case string, bool, int64, *big.Int, float64:
		return py.Text(v)
	}
	r.fail(path, "must be text, not %s", kindOf(v))
	return nil
}

// boolWords are the texts that stand for a boolean.
var boolWords = map[string]bool{
	"0": false, "off": false, "f": false, "false": false, "n": false, "no": false,
	"1": true, "on": true, "t": true, "true": true, "y": true, "yes": true,
}

// boolean is a value as a boolean.
func (r *report) boolean(path string, v any) any {
	switch x := v.(type) {
	case bool:
		return x
	case string:
		if b, ok := boolWords[strings.ToLower(x)]; ok {
			return b
		}
	case int64, float64:
		if f, _ := py.Float(x); f == 0 || f == 1 {
			return f == 1
		}
	}
	r.fail(path, "must be true or false, not %s", describe(v))
	return nil
}

func describe(v any) string {
	if text, ok := v.(string); ok && len(text) <= 100 {
		return "the text " + text
	}
	return kindOf(v)
}

// anyMap takes a mapping as it is.
func (r *report) anyMap(path string, v any) any {
	if _, ok := v.(*py.Map); !ok {
		r.fail(path, "must be a mapping, not %s", kindOf(v))
	}
	return v
}

// anyValue takes everything as it is.
func (r *report) anyValue(_ string, v any) any { return v }

// field is one key of a schema and what reads it.
type field struct {
	name     string
	required bool
	read     func(path string, v any) any
}

// object reads a mapping by its fields. unknown says what becomes of the rest:
// nil leaves it out with a warning.
func (r *report) object(path string, v any, fields []field, unknown func(path string, v any) any) *py.Map {
	m, ok := v.(*py.Map)
	if !ok {
		r.fail(path, "must be a mapping, not %s", kindOf(v))
		return nil
	}
	result := py.NewMap(m.Len())
	for _, f := range fields {
		value, there := m.Get(f.name)
		at := strict.Key(path, f.name)
		switch {
		case there && value == nil && f.required:
			r.fail(at, "must not be null")
		case value == nil && f.required:
			r.fail(at, "is missing")
		case value != nil:
			result.Set(f.name, f.read(at, value))
		}
	}
	for _, e := range m.Entries() {
		if !known(fields, e.Key) {
			at := strict.Key(path, py.Text(e.Key))
			if unknown == nil {
				r.warn(BuilderKey, at, "is no key that is known here and is left out: remove it")
			} else if e.Value != nil {
				result.Set(e.Key, unknown(at, e.Value))
			}
		}
	}
	return result
}

func known(fields []field, key any) bool {
	for _, f := range fields {
		if f.name == key {
			return true
		}
	}
	return false
}

// items reads a list of mappings.
func (r *report) items(path string, v any, read func(path string, v any) *py.Map) any {
	list, ok := v.([]any)
	if !ok {
		r.fail(path, "must be a list, not %s", kindOf(v))
		return nil
	}
	result := make([]any, len(list))
	for i := range list {
		result[i] = read(strict.Index(path, i), list[i])
	}
	return result
}
