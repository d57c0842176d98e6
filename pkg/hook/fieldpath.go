package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/limits"
)

// step is one step of a field path: a key, or an index where the key is empty.
type step struct {
	key   string
	index int
}

// fieldPath is a place in a request, as `tasks[0].env.SEED`.
type fieldPath []step

var (
	segment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*)((?:\[(?:0|[1-9][0-9]{0,3})\])*)$`)
	indexes = regexp.MustCompile(`[0-9]+`)
)

// parseFieldPath reads a path.
func parseFieldPath(text string) (fieldPath, error) {
	var path fieldPath
	for part := range strings.SplitSeq(text, ".") {
		match := segment.FindStringSubmatch(part)
		if match == nil {
			return nil, fmt.Errorf("%q is not a path like a.b[0].c", text)
		}
		path = append(path, step{key: match[1]})
		for _, digits := range indexes.FindAllString(match[2], -1) {
			number, err := strconv.Atoi(digits)
			if err != nil {
				return nil, err
			}
			path = append(path, step{index: number})
		}
		if len(path) > limits.JSONDepth {
			return nil, fmt.Errorf("the path has more than %d steps", limits.JSONDepth)
		}
	}
	return path, nil
}

// String writes the path as it is read.
func (p fieldPath) String() string {
	var text strings.Builder
	for i, s := range p {
		switch {
		case s.key == "":
			fmt.Fprintf(&text, "[%d]", s.index)
		case i > 0:
			text.WriteString("." + s.key)
		default:
			text.WriteString(s.key)
		}
	}
	return text.String()
}

// compareFieldPaths puts indexes in the order of their numbers, so that lists
// grow from their start.
func compareFieldPaths(a, b fieldPath) int {
	return slices.CompareFunc(a, b, func(x, y step) int {
		if x.key != y.key {
			return strings.Compare(x.key, y.key)
		}
		return x.index - y.index
	})
}

// within reports whether the path lies at or under another.
func (p fieldPath) within(other fieldPath) bool {
	return len(p) >= len(other) && slices.Equal(p[:len(other)], other)
}

// assign lays a value at the path into a JSON value and gives the changed
// value. Missing parents are made; a list grows by one entry at a time.
func (p fieldPath) assign(into, value any) (any, error) {
	if len(p) == 0 {
		return value, nil
	}
	if s := p[0]; s.key == "" {
		list, ok := into.([]any)
		if into != nil && !ok {
			return nil, fmt.Errorf("what [%d] should stand in is not a list", s.index)
		}
		if s.index > len(list) {
			return nil, fmt.Errorf("[%d] would leave a gap: the list has %d entries", s.index, len(list))
		}
		if s.index == len(list) {
			list = append(list, nil)
		}
		entry, err := p[1:].assign(list[s.index], value)
		list[s.index] = entry
		return list, err
	}
	fields, ok := into.(map[string]any)
	if into != nil && !ok {
		return nil, fmt.Errorf("what %q should stand in is not an object", p[0].key)
	}
	if fields == nil {
		fields = map[string]any{}
	}
	field, err := p[1:].assign(fields[p[0].key], value)
	fields[p[0].key] = field
	return fields, err
}
