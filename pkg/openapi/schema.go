package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Schema is the part of JSON Schema that the functions need.
type Schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Description          string             `json:"description,omitempty"`
	Type                 any                `json:"type,omitempty"` // a text, or several
	Format               string             `json:"format,omitempty"`
	Enum                 []any              `json:"enum,omitempty"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false, or a schema
	Items                *Schema            `json:"items,omitempty"`
	OneOf                []*Schema          `json:"oneOf,omitempty"`
}

// schemas makes the schemas of types; structs become components that others
// refer to.
type schemas struct {
	describe   Describe
	components map[string]*Schema
	of         map[string]used
}

// used is what a component's name stands for.
type used struct {
	reflect.Type
	strict bool
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// schema describes a type. Strict objects have no further keys: requests are
// decoded strictly, while answers may get new fields.
func (s *schemas) schema(t reflect.Type, strict bool) *Schema {
	if make, ok := known[t]; ok {
		return make()
	}
	if t.Kind() == reflect.Pointer {
		return orNull(s.schema(t.Elem(), strict))
	}
	if t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		panic(fmt.Sprintf("openapi: say in types.go what %s is in JSON", t))
	}
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: "integer"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Slice:
		return &Schema{Type: "array", Items: s.schema(t.Elem(), strict)}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: s.schema(t.Elem(), strict)}
	case reflect.Struct:
		return s.component(t, strict)
	default:
		panic(fmt.Sprintf("openapi: %s has no form in JSON", t))
	}
}

func (s *schemas) component(t reflect.Type, strict bool) *Schema {
	name, this := t.String(), used{t, strict}
	if other, ok := s.of[name]; ok && other != this {
		panic(fmt.Sprintf("openapi: %s and %s have one name, or one is both taken and given", t, other))
	}
	if _, ok := s.of[name]; !ok {
		s.of[name] = this
		s.components[name] = s.object(t, strict)
	}
	return &Schema{Ref: "#/components/schemas/" + name}
}

// object describes a struct in its place.
func (s *schemas) object(t reflect.Type, strict bool) *Schema {
	object := &Schema{Type: "object", Properties: map[string]*Schema{}}
	for _, f := range Fields(t) {
		property := s.schema(f.Type, strict)
		if (f.Optional || strict) && f.Type.Kind() == reflect.Pointer {
			property = s.schema(f.Type.Elem(), strict) // there or left out, never null
		}
		if text := s.describe(f); text != "" {
			property.Description = text
		}
		object.Properties[f.Name] = property
		if !f.Optional {
			object.Required = append(object.Required, f.Name)
		}
	}
	slices.Sort(object.Required)
	if strict {
		object.AdditionalProperties = false
	}
	return object
}

func orNull(s *Schema) *Schema {
	switch kind := s.Type.(type) {
	case string:
		s.Type = []string{kind, "null"}
		return s
	case nil:
		return &Schema{OneOf: []*Schema{s, {Type: "null"}}}
	default:
		return s
	}
}
