package strict

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// shape is what JSON a Go type takes.
type shape int

const (
	free     shape = iota // any JSON
	pointer               // null, or what elem takes
	object                // known keys
	mapping               // any keys, values as elem
	list                  // elements as elem
	text                  // a string
	boolean               //
	number                // any number
	integer               // a whole number that fits the type
	ownJSON               // what its UnmarshalJSON takes
	ownText               // a string that its UnmarshalText takes
	anything              // left to encoding/json: rare rules of tags and types
)

// plan is the shape of a Go type with what lies below it.
type plan struct {
	shape    shape
	typ      reflect.Type
	elem     *plan
	fields   map[string]*plan
	names    []string // of fields, in the order of the type
	nullable bool
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	jsonNumber      = reflect.TypeFor[json.Number]()
	bytesType       = reflect.TypeFor[[]byte]()
)

var (
	plansLock sync.Mutex
	plans     = map[reflect.Type]*plan{}
)

// planOf gives the plan of a type. Plans are made once and never changed.
func planOf(t reflect.Type) *plan {
	plansLock.Lock()
	defer plansLock.Unlock()
	return makePlan(t)
}

func makePlan(t reflect.Type) *plan {
	if p, ok := plans[t]; ok {
		return p
	}
	p := &plan{typ: t}
	plans[t] = p // before it is filled, since types may hold themselves
	switch {
	case t == rawMessage || t.Kind() == reflect.Interface && t.NumMethod() == 0:
		p.shape = free
	case t.Kind() == reflect.Pointer:
		p.shape, p.elem = pointer, makePlan(t.Elem())
	case reflect.PointerTo(t).Implements(unmarshaler):
		p.shape = ownJSON
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		p.shape = ownText
	case t == jsonNumber:
		p.shape = number
	case t == bytesType:
		p.shape, p.nullable = text, true
	default:
		p.fill(t)
	}
	return p
}

func (p *plan) fill(t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct:
		p.shape, p.fields = object, map[string]*plan{}
		p.addFields(t)
	case reflect.Map:
		p.shape, p.elem, p.nullable = mapping, makePlan(t.Elem()), true
	case reflect.Slice:
		p.shape, p.elem, p.nullable = list, makePlan(t.Elem()), true
	case reflect.String:
		p.shape = text
	case reflect.Bool:
		p.shape = boolean
	case reflect.Float32, reflect.Float64:
		p.shape = number
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.shape = integer
	default:
		p.shape = anything
	}
}

// addFields adds a struct's fields, those of embedded structs after its own,
// so that an outer field hides an inner one of the same name.
func (p *plan) addFields(t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case !field.IsExported():
		default:
			if name == "" {
				name = field.Name
			}
			if _, hidden := p.fields[name]; hidden {
				continue
			}
			p.names = append(p.names, name)
			p.fields[name] = makePlan(field.Type)
			if strings.Contains(","+options+",", ",string,") {
				p.fields[name] = &plan{shape: anything}
			}
		}
	}
	for _, inner := range embedded {
		p.addFields(inner)
	}
}
