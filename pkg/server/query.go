package server

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/runhook/runhook/pkg/fault"
)

// queryJSON writes a query as the JSON request that a POST would have: numbers,
// booleans and lists where the request's type has them, else text. What does
// not fit stays text, for the decoder of the request to refuse with its path.
func queryJSON(query url.Values, request any) (json.RawMessage, error) {
	types := map[string]reflect.Type{}
	if t := reflect.TypeOf(request); t != nil && t.Kind() == reflect.Struct {
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.IsExported() && name != "" && name != "-" {
				types[name] = field.Type
			}
		}
	}
	object := map[string]any{}
	var wrong fault.List
	for key, values := range query {
		if !utf8.ValidString(key + " " + strings.Join(values, " ")) {
			return nil, fault.New(fault.Malformed, "the query of the address is no UTF-8")
		}
		t := types[key]
		switch {
		case t != nil && t.Kind() == reflect.Slice:
			list := make([]any, len(values))
			for i, value := range values {
				list[i] = scalar(value, t.Elem())
			}
			object[key] = list
		case len(values) != 1:
			wrong.Add(clip(key), "is given %d times", len(values))
		default:
			object[key] = scalar(values[0], t)
		}
	}
	if err := wrong.Err(fault.Invalid, "the query of the address is not right"); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

func scalar(value string, t reflect.Type) any {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return value
	}
	switch t.Kind() {
	case reflect.Bool:
		if value == "true" || value == "false" {
			return value == "true"
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		if value != "" && strings.Trim(value, "0123456789.eE+-") == "" && json.Valid([]byte(value)) {
			return json.Number(value)
		}
	}
	return value
}
