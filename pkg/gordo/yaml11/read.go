// Package yaml11 reads YAML 1.1 into the values of package py as PyYAML does:
// `on` is true, `010` is 8, `1:30` is 90, `1e3` is text, the last of two equal
// keys wins. Tags of Python are refused, and so are bytes, depth and aliases
// beyond a limit.
package yaml11

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/limits"
)

// Error is what is wrong in a YAML text and where. The path is empty when the
// text is no YAML at all.
type Error struct {
	Path   []any // keys and indexes, from the top
	Line   int   // from 1; 0 where it is not known
	Detail string
	Large  bool // over a limit of size, not a mistake of writing
}

// Error gives line and detail.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Detail
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Detail)
}

// Load reads a config file: every plain timestamp must have a zone, as gordo
// wants it.
func Load(text []byte) (any, error) {
	if v, ok := batched(text[:min(len(text), limits.GordoConfig)], batchBytes); ok && len(text) <= limits.GordoConfig {
		return v, nil
	}
	return load(text, true)
}

// LoadText reads the YAML text of a field, where a timestamp may lack its zone.
func LoadText(text string) (any, error) { return load([]byte(text), false) }

func load(text []byte, zones bool) (any, error) {
	if len(text) > limits.GordoConfig {
		return nil, &Error{Large: true, Detail: fmt.Sprintf("the config has %d bytes, and %d are read", len(text), limits.GordoConfig)}
	}
	return newReader(zones).document(text, 0)
}

func newReader(zones bool) *reader {
	return &reader{zones: zones, anchors: map[*yaml.Node]anchor{}, known: map[string]any{}}
}

// document reads a text that is one document, whose value stands at a depth.
func (r *reader) document(text []byte, depth int) (any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, syntax(err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, &Error{Line: second.Line, Detail: "a second document begins here, and a config is one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(err)
	}
	clear(r.anchors)
	v, err := r.value(&document, depth)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func syntax(err error) error {
	return &Error{Detail: clip(strings.TrimPrefix(err.Error(), "yaml: "))}
}

// anchor is a value that aliases name again, and what it weighs.
type anchor struct {
	value  any
	weight int
}

type reader struct {
	zones   bool
	weight  int // bytes of the document, aliases written out
	anchors map[*yaml.Node]anchor
	known   map[string]any // short texts that stood before: most keys and many values
}

// Texts that are kept once: short ones, and not without end.
const (
	knownLength = 32
	knownTexts  = 1 << 14
)

// text is a text as a value, the same one wherever it stands.
func (r *reader) text(text string) any {
	if len(text) > knownLength {
		return text
	}
	if v, ok := r.known[text]; ok {
		return v
	}
	var v any = text
	if len(r.known) < knownTexts {
		r.known[text] = v
	}
	return v
}

func (r *reader) value(n *yaml.Node, depth int) (any, *Error) {
	if depth > limits.JSONDepth {
		return nil, &Error{Line: n.Line, Large: true, Detail: fmt.Sprintf("nested deeper than %d levels", limits.JSONDepth)}
	}
	if n.Kind == yaml.DocumentNode {
		return r.value(n.Content[0], depth)
	}
	if n.Kind == yaml.AliasNode {
		return r.alias(n)
	}
	before := r.weight
	r.weight += nodeWeight + len(n.Value)
	if err := r.bounded(n); err != nil {
		return nil, err
	}
	v, err := r.content(n, depth)
	if err == nil && n.Anchor != "" {
		r.anchors[n] = anchor{v, r.weight - before}
	}
	return v, err
}

// nodeWeight is what a node takes beside its text, roughly, once written.
const nodeWeight = 16

func (r *reader) bounded(n *yaml.Node) *Error {
	if r.weight > limits.GordoExpanded {
		return &Error{Line: n.Line, Large: true, Detail: fmt.Sprintf("with its aliases written out the config passes %d bytes", limits.GordoExpanded)}
	}
	return nil
}

func (r *reader) alias(n *yaml.Node) (any, *Error) {
	a, ok := r.anchors[n.Alias]
	if !ok {
		return nil, &Error{Line: n.Line, Detail: fmt.Sprintf("the alias *%s stands inside what it names", clip(n.Value))}
	}
	r.weight += a.weight
	return a.value, r.bounded(n)
}

func (r *reader) content(n *yaml.Node, depth int) (any, *Error) {
	tagged := n.Style&yaml.TaggedStyle != 0
	switch {
	case n.Kind == yaml.ScalarNode:
		v, err := r.scalar(n, tagged)
		if err != nil {
			return nil, &Error{Line: n.Line, Detail: err.Error()}
		}
		return v, nil
	case tagged && !knownTag(n):
		return nil, &Error{Line: n.Line, Detail: tagFault(n.Tag).Error()}
	case n.Kind == yaml.SequenceNode && n.Tag == "!!omap":
		return r.orderedMap(n, depth)
	case n.Kind == yaml.SequenceNode:
		return r.list(n, depth)
	case n.Tag == "!!set":
		return r.set(n, depth)
	}
	m := py.NewMap(len(n.Content) / 2)
	return m, r.mapping(m, n, depth)
}

func knownTag(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return n.Tag == "!!seq" || n.Tag == "!!omap" || n.Tag == "!"
	}
	return n.Tag == "!!map" || n.Tag == "!!set" || n.Tag == "!"
}

func (r *reader) scalar(n *yaml.Node, tagged bool) (any, error) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case tagged:
		return r.tagged(n.Tag, n.Value)
	case n.Style&quoted != 0:
		return r.text(n.Value), nil
	}
	return r.plain(n.Value)
}

func (r *reader) list(n *yaml.Node, depth int) (any, *Error) {
	list := make([]any, len(n.Content))
	for i, child := range n.Content {
		v, err := r.value(child, depth+1)
		if err != nil {
			return nil, err.below(i)
		}
		if n.Style&yaml.FlowStyle != 0 && endsInColon(child) {
			v = py.MapOf(r.text(strings.TrimSuffix(child.Value, ":")), nil)
		}
		list[i] = v
	}
	return list, nil
}

// below puts a step in front of the path, on the way up from the mistake.
func (e *Error) below(step any) *Error {
	e.Path = append([]any{step}, e.Path...)
	return e
}

func clip(text string) string {
	if len(text) <= limits.Quoted {
		return text
	}
	return strings.ToValidUTF8(text[:limits.Quoted], "") + "…"
}
