package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Document is one YAML document: its JSON, and where each of its values stands.
type Document struct {
	file string
	root *yaml.Node
	json []byte
}

// Parse reads a file that holds one YAML document, or nothing.
func Parse(file string, data []byte) (*Document, error) {
	if len(data) > limits.YAMLBytes {
		return nil, fault.New(fault.Malformed, "%s: larger than %d bytes", file, limits.YAMLBytes)
	}
	d := &Document{file: file, root: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err == nil {
		if len(first.Content) > 0 {
			d.root = first.Content[0]
		}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(file, err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, fault.New(fault.Malformed, "%s:%d: a second document; one is read", file, max(second.Line, 1))
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(file, err)
	}
	w := writer{file: file}
	if err := w.node(d.root, 0); err != nil {
		return nil, err
	}
	d.json = w.Bytes()
	return d, nil
}

// syntax turns the parser's `yaml: line 3: …` into `file:3: …`.
func syntax(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		return fault.Wrap(fault.Malformed, err, "%s:%s", file, clip(rest))
	}
	return fault.Wrap(fault.Malformed, err, "%s: %s", file, clip(text))
}

// JSON gives the document as JSON.
func (d *Document) JSON() json.RawMessage { return d.json }

// Decode fills into as the function JSON does.
func (d *Document) Decode(into any) error { return d.Locate(decode(d.json, into)) }

// Locate puts file:line before the detail of every problem of an error.
func (d *Document) Locate(err error) error {
	if err == nil {
		return nil
	}
	found := *fault.From(err)
	problems := make([]fault.Problem, len(found.Problems))
	for i, p := range found.Problems {
		problems[i] = fault.Problem{Path: p.Path, Detail: d.Where(p.Path) + ": " + p.Detail}
	}
	found.Problems = problems
	if len(problems) == 0 {
		found.Detail = d.file + ": " + found.Detail
	}
	return &found
}

// Where gives file:line of a path, or of what is nearest above it.
func (d *Document) Where(path string) string {
	node, line := d.root, d.root.Line
	for {
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		at, rest, ok := step(path)
		if !ok {
			break
		}
		next, nextLine := child(node, at)
		if next == nil {
			break
		}
		node, line, path = next, nextLine, rest
	}
	return fmt.Sprintf("%s:%d", d.file, line)
}

// child steps down. The last of two equal keys is taken: it is the mistake.
func child(node *yaml.Node, at segment) (*yaml.Node, int) {
	switch {
	case at.key == nil && node.Kind == yaml.SequenceNode && at.index >= 0 && at.index < len(node.Content):
		return node.Content[at.index], node.Content[at.index].Line
	case at.key != nil && node.Kind == yaml.MappingNode:
		for i := len(node.Content) - 2; i >= 0; i -= 2 {
			if node.Content[i].Value == string(at.key) {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	}
	return nil, 0
}

// writer writes nodes as JSON.
type writer struct {
	bytes.Buffer
	file string
}

func (w *writer) refuse(node *yaml.Node, format string, args ...any) error {
	return fault.New(fault.Malformed, "%s:%d: %s", w.file, node.Line, fmt.Sprintf(format, args...))
}

func (w *writer) node(node *yaml.Node, depth int) error {
	// Aliases of aliases grow without bound; an alias within its own anchor never ends.
	if w.Len() > limits.YAMLBytes {
		return w.refuse(node, "with its aliases written out the document is larger than %d bytes", limits.YAMLBytes)
	}
	if depth > limits.JSONDepth {
		return w.refuse(node, "nested deeper than %d levels", limits.JSONDepth)
	}
	switch node.Kind {
	case yaml.AliasNode:
		return w.node(node.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(node, depth)
	case yaml.SequenceNode:
		w.WriteByte('[')
		for i, element := range node.Content {
			if i > 0 {
				w.WriteByte(',')
			}
			if err := w.node(element, depth+1); err != nil {
				return err
			}
		}
		w.WriteByte(']')
		return nil
	default:
		return w.scalar(node)
	}
}

func (w *writer) mapping(node *yaml.Node, depth int) error {
	w.WriteByte('{')
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return w.refuse(key, "a key must be text")
		case key.ShortTag() == "!!merge":
			return w.refuse(key, "the merge key << is not read; write the keys out, or use an alias for the whole value")
		}
		if i > 0 {
			w.WriteByte(',')
		}
		if err := w.text(key, key.Value); err != nil {
			return err
		}
		w.WriteByte(':')
		if err := w.node(node.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

func (w *writer) scalar(node *yaml.Node) error {
	switch tag := node.ShortTag(); tag {
	case "!!null":
		w.WriteString("null")
	case "!!str", "!!timestamp":
		return w.text(node, node.Value)
	case "!!bool", "!!int", "!!float":
		// As written where JSON writes it so too: 1.10 and numbers beyond 64 bits stay what they are.
		if json.Valid([]byte(node.Value)) && kindOf(node.Value[0]) == aNumber {
			w.WriteString(node.Value)
			return nil
		}
		var value any
		if err := node.Decode(&value); err != nil {
			return w.refuse(node, "%s is not of the type %s", clip(node.Value), tag)
		}
		written, err := json.Marshal(value)
		if err != nil {
			return w.refuse(node, "%s is no number of JSON", clip(node.Value))
		}
		w.Write(written)
	default:
		return w.refuse(node, "the tag %s is not read", clip(tag))
	}
	return nil
}

func (w *writer) text(node *yaml.Node, text string) error {
	written, err := json.Marshal(text)
	if err != nil {
		return w.refuse(node, "no text")
	}
	w.Write(written)
	return nil
}
