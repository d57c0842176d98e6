// Package strict decodes JSON and YAML without forgiving anything: an unknown
// key, a key given twice and a value of the wrong type are refused, all at
// once, each with its path. Keys are compared with their case, as encoding/json
// does not.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"unicode/utf8"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// JSON decodes one JSON value. Bytes that are no JSON, a key given twice and
// too deep nesting are Malformed; unknown keys, wrong types and what a type's
// own decoder refuses are Invalid, every one with its path. What into holds
// already is kept where the JSON says nothing.
func JSON(data []byte, into any) error {
	if err := wellFormed(data); err != nil {
		return err
	}
	return decode(data, into)
}

// YAML decodes one YAML document of a file. Every problem's detail begins with
// file:line.
func YAML(file string, data []byte, into any) error {
	document, err := Parse(file, data)
	if err != nil {
		return err
	}
	return document.Decode(into)
}

// wellFormed refuses what is no JSON text in UTF-8.
func wellFormed(data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fault.New(fault.Malformed, "JSON is asked for, and there is nothing")
	case !utf8.Valid(data):
		return fault.New(fault.Malformed, "not JSON: the bytes are no UTF-8")
	case json.Valid(data):
		return nil
	}
	var syntax *json.SyntaxError
	var ignored json.RawMessage
	if err := json.Unmarshal(data, &ignored); errors.As(err, &syntax) {
		return fault.Wrap(fault.Malformed, err, "not JSON: %s, at byte %d", syntax, syntax.Offset)
	}
	return fault.New(fault.Malformed, "not JSON")
}

// decode checks well-formed JSON against the type of into and fills it.
func decode(data []byte, into any) error {
	w := walker{data: data}
	if err := w.value(planOf(reflect.TypeOf(into).Elem())); err != nil {
		return err
	}
	if err := w.err(); err != nil {
		return err
	}
	// encoding/json has the last word: it may know a rule of a type that the
	// walk does not, such as the option `string` of a tag.
	err := json.Unmarshal(data, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return &fault.Error{Kind: fault.Invalid, Detail: mistakes, Problems: []fault.Problem{
			{Path: wrong.Field, Detail: "not a " + wrong.Value + " but a value of another type is asked for"},
		}}
	default:
		return fault.Wrap(fault.Invalid, err, "%s: %s", mistakes, clip(err.Error()))
	}
}

const mistakes = "not what is asked for"

// clip bounds a text that comes from outside and is said back.
func clip(text string) string {
	if len(text) <= limits.Quoted {
		return text
	}
	cut := limits.Quoted
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
