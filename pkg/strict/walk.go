package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// walker compares JSON with a plan and gathers every mistake.
type walker struct {
	data      []byte
	pos       int
	path      []segment
	keys      [][]byte // of the objects that are open; the innermost's last
	problems  fault.List
	malformed bool
	amounts   bool // one that is none was given
	size      int  // of the lists and maps that will hold what is walked
}

// add notes a mistake where the walker stands. A hostile body may hold
// hundreds of thousands.
func (w *walker) add(format string, args ...any) {
	if w.problems.Len() < limits.Problems {
		w.problems.Add(pathOf(w.path), format, args...)
	}
}

func (w *walker) err() error {
	kind := fault.Invalid
	if w.malformed {
		kind = fault.Malformed
	}
	detail := mistakes
	if w.problems.Len() >= limits.Problems {
		detail = fmt.Sprintf("%s; the first %d mistakes are", mistakes, limits.Problems)
	}
	err := w.problems.Err(kind, detail)
	if w.amounts {
		told := fault.Wrap(kind, errQuantity, "%s", detail)
		told.Problems = fault.From(err).Problems
		return told
	}
	return err
}

// value walks one value. Its error ends the walk; mistakes are gathered.
func (w *walker) value(p *plan) error {
	if w.problems.Len() >= limits.Problems {
		return w.err() // no more would be told
	}
	first := w.peek()
	for p.shape == pointer {
		if first == 'n' {
			w.word()
			return nil
		}
		p = p.elem
	}
	switch p.shape {
	case ownJSON, ownText:
		return w.leaf(p, first)
	case free, anything:
	default:
		if given := kindOf(first); given != wanted[p.shape] && !(first == 'n' && p.nullable) {
			w.mismatch(p, given)
			p = freePlan
		}
	}
	switch first {
	case '{':
		return w.object(p)
	case '[':
		return w.list(p)
	case '"':
		if raw, escaped := w.str(); escaped && halfCharacter(raw) {
			w.malformed = true
			w.add("half of a surrogate pair is no text")
		}
	default:
		word := w.word()
		if p.shape == integer && first != 'n' || p.shape == number && first != 'n' && p.typ != jsonNumber {
			w.fits(p, word)
		}
	}
	return nil
}

var freePlan = &plan{shape: free}

// What JSON calls its values, as said to a person.
const (
	anObject = "an object"
	aList    = "a list"
	aText    = "text"
	aBoolean = "true or false"
	aNumber  = "a number"
	aNull    = "null"
)

var wanted = map[shape]string{
	object: anObject, mapping: anObject, list: aList, text: aText, boolean: aBoolean,
	number: aNumber, integer: aNumber, ownText: aText,
}

func kindOf(first byte) string {
	switch first {
	case '{':
		return anObject
	case '[':
		return aList
	case '"':
		return aText
	case 't', 'f':
		return aBoolean
	case 'n':
		return aNull
	default:
		return aNumber
	}
}

func (w *walker) mismatch(p *plan, given string) {
	hint := ""
	if wanted[p.shape] == aText && (given == aNumber || given == aBoolean) {
		hint = "; put it in quotes"
	}
	w.add("%s is asked for, not %s%s", wanted[p.shape], given, hint)
}

// fits checks that a number fits the Go type, which encoding/json would tell
// of the first one only.
func (w *walker) fits(p *plan, word []byte) {
	value := reflect.New(p.typ)
	if err := json.Unmarshal(word, value.Interface()); err == nil {
		return
	}
	if p.shape == integer && bytes.ContainsAny(word, ".eE") {
		w.add("a whole number is asked for")
		return
	}
	w.add("%s is out of range", clip(string(word)))
}

// leaf lets a type's own decoder speak, here where the path is known.
func (w *walker) leaf(p *plan, first byte) error {
	w.peek()
	start, before := w.pos, w.problems.Len()
	if p.shape == ownText && first != '"' {
		w.mismatch(p, kindOf(first))
	}
	if err := w.value(freePlan); err != nil {
		return err
	}
	if w.problems.Len() > before {
		return nil
	}
	if p.typ == quantityType && !isQuantity(w.data[start:w.pos]) {
		w.amounts = true
		w.add("%s %s", clip(string(w.data[start:w.pos])), errQuantity)
		return nil
	}
	err := json.Unmarshal(w.data[start:w.pos], reflect.New(p.typ).Interface())
	if err == nil {
		return nil
	}
	var inner *fault.Error
	if !errors.As(err, &inner) {
		w.add("%s", clip(strings.TrimPrefix(err.Error(), "json: ")))
		return nil
	}
	if len(inner.Problems) == 0 {
		w.add("%s", inner.Detail)
	}
	for _, problem := range inner.Problems {
		if w.problems.Len() < limits.Problems {
			w.problems.Add(Join(pathOf(w.path), problem.Path), "%s", problem.Detail)
		}
	}
	return nil
}

// open enters an object or a list; nesting is bounded since every level costs stack.
func (w *walker) open() error {
	w.pos++
	w.path = append(w.path, segment{})
	if len(w.path) > limits.JSONDepth {
		return fault.New(fault.Malformed, "nested deeper than %d levels", limits.JSONDepth)
	}
	return nil
}

func (w *walker) close() {
	w.pos++
	w.path = w.path[:len(w.path)-1]
}

// more steps over a comma, if another element follows.
func (w *walker) more(end byte) bool {
	c := w.peek()
	if c == ',' {
		w.pos++
		w.peek()
	}
	return c != end
}

// grow counts what an element will take, however short it is written: three
// bytes may become a struct of a hundred times as many.
func (w *walker) grow(elem *plan) error {
	if elem.typ != nil {
		w.size += int(elem.typ.Size())
	}
	if w.size <= limits.Values {
		return nil
	}
	told := fault.Wrap(fault.Malformed, errTooMuch, "%s", mistakes)
	told.Problems = []fault.Problem{{Path: pathOf(w.path), Detail: errTooMuch.Error()}}
	return told
}

// mapEntry is what an entry of a map takes beside its value, key included.
const mapEntry = 112

// errTooMuch ends a walk before the values are made.
var errTooMuch = errors.New("more elements than are read")

func (w *walker) list(p *plan) error {
	if err := w.open(); err != nil {
		return err
	}
	elem := freePlan
	if p.shape == list {
		elem = p.elem
	}
	for i := 0; w.more(']'); i++ {
		w.path[len(w.path)-1] = segment{index: i}
		if err := w.grow(elem); err != nil {
			return err
		}
		if err := w.value(elem); err != nil {
			return err
		}
	}
	w.close()
	return nil
}

func (w *walker) object(p *plan) error {
	if err := w.open(); err != nil {
		return err
	}
	seen := keySet{base: len(w.keys)}
	for w.more('}') {
		raw, escaped := w.str()
		key := unquote(raw, escaped)
		w.path[len(w.path)-1] = segment{key: key}
		if escaped && halfCharacter(raw) {
			w.malformed = true
			w.add("half of a surrogate pair is no text")
		}
		if !seen.add(w, key) {
			w.malformed = true
			w.add("the key is given twice")
		}
		w.peek()
		w.pos++ // the colon
		if p.shape == mapping {
			w.size += mapEntry
			if err := w.grow(p.elem); err != nil {
				return err
			}
		}
		if err := w.value(w.below(p, key)); err != nil {
			return err
		}
	}
	w.keys = w.keys[:seen.base]
	w.close()
	return nil
}

// below is the plan of a key's value.
func (w *walker) below(p *plan, key []byte) *plan {
	switch p.shape {
	case mapping:
		return p.elem
	case object:
		if field, ok := p.fields[string(key)]; ok {
			return field
		}
		w.add("unknown key; known are %s", strings.Join(p.names, ", "))
	}
	return freePlan
}

// keySet is the keys of one object: compared one by one while they are few,
// as nearly all are, so that no map is made.
type keySet struct {
	base int
	many map[string]struct{}
}

func (s *keySet) add(w *walker, key []byte) bool {
	const few = 16
	if s.many != nil {
		_, twice := s.many[string(key)]
		s.many[string(key)] = struct{}{}
		return !twice
	}
	keys := w.keys[s.base:]
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return false
		}
	}
	w.keys = append(w.keys, key)
	if len(keys) == few {
		s.many = make(map[string]struct{}, 4*few)
		for _, k := range w.keys[s.base:] {
			s.many[string(k)] = struct{}{}
		}
	}
	return true
}
