// Package openapi describes the functions as OpenAPI 3.1 does, from their Go
// types alone: whatever a function takes and gives is described as it is coded.
package openapi

import (
	"reflect"
	"strings"
)

// Field is one key of a JSON object.
type Field struct {
	Name string
	Type reflect.Type
	// Optional keys may be left out.
	Optional bool
	// Owner is the struct that declares it, under GoName.
	Owner  reflect.Type
	GoName string
}

// Fields lists the keys of a struct as encoding/json has them, those of
// embedded structs in their place.
func Fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fields = append(fields, Fields(f.Type)...)
		case !f.IsExported() || name == "-":
		default:
			fields = append(fields, Field{Name: name, Type: f.Type, Optional: options == "omitempty", Owner: t, GoName: f.Name})
		}
	}
	return fields
}

// Describe gives the doc comment of a field; the binary itself knows none.
type Describe func(Field) string

func undescribed(Field) string { return "" }
