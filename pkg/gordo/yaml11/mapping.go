package yaml11

import (
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// mapping fills a Map: what is merged by `<<` first, so that the mapping's own
// keys win, then its own pairs.
func (r *reader) mapping(m *py.Map, n *yaml.Node, depth int) *Error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if err := r.merge(m, n.Content[i+1], depth+1); err != nil {
				return err.below("<<")
			}
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		key, err := r.key(n.Content[i], depth+1)
		if err != nil {
			return err
		}
		if n.Style&yaml.FlowStyle != 0 && endsInColon(n.Content[i]) && n.Content[i+1].Value == "" {
			key = r.text(strings.TrimSuffix(n.Content[i].Value, ":"))
		}
		v, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return err.below(key)
		}
		m.Set(key, v)
	}
	return nil
}

// endsInColon is a plain text of a flow collection that PyYAML reads as a key
// without a value: `{a:}` and `[a:]` are `{a: null}` and `[{a: null}]`.
func endsInColon(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && strings.HasSuffix(n.Value, ":")
}

func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Style == 0
}

func (r *reader) key(n *yaml.Node, depth int) (any, *Error) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "=" {
		return "=", nil
	}
	key, err := r.value(n, depth)
	if err == nil && !py.Hashable(key) {
		err = &Error{Line: n.Line, Detail: py.Kind(key) + " can't be a key: a key is one scalar"}
	}
	return key, err
}

// merge lays the mapping, or the list of mappings, of a `<<` into a Map. Of a
// list the first mapping wins.
func (r *reader) merge(m *py.Map, n *yaml.Node, depth int) *Error {
	v, err := r.value(n, depth)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for i := len(list) - 1; i >= 0; i-- {
		part, ok := list[i].(*py.Map)
		if !ok {
			return &Error{Line: n.Line, Detail: "`<<` takes a mapping or a list of mappings, not " + py.Kind(list[i])}
		}
		for _, e := range part.Entries() {
			m.Set(e.Key, e.Value)
		}
	}
	return nil
}

// set reads `!!set {a, b}`.
func (r *reader) set(n *yaml.Node, depth int) (any, *Error) {
	m := py.NewMap(len(n.Content) / 2)
	if err := r.mapping(m, n, depth); err != nil {
		return nil, err
	}
	set := make(py.Set, 0, m.Len())
	for _, e := range m.Entries() {
		set = append(set, e.Key)
	}
	return set, nil
}

// orderedMap reads `!!omap [a: 1]` as the list of pairs that PyYAML makes.
func (r *reader) orderedMap(n *yaml.Node, depth int) (any, *Error) {
	list := make([]any, len(n.Content))
	for i, child := range n.Content {
		v, err := r.value(child, depth+1)
		if err != nil {
			return nil, err.below(i)
		}
		m, ok := v.(*py.Map)
		if !ok || m.Len() != 1 {
			return nil, (&Error{Line: child.Line, Detail: "!!omap takes a list of mappings with one key each"}).below(i)
		}
		e := m.Entries()[0]
		list[i] = []any{e.Key, e.Value}
	}
	return list, nil
}
