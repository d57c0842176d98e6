package strict

import (
	"strconv"
	"strings"
)

// segment is one step of a path: a key, or an index when key is nil.
type segment struct {
	key   []byte
	index int
}

// Key writes the step from a path to a key below it: `a.b`, or `a["b.c"]`
// where the key holds more than letters, digits, `_` and `-`.
func Key(path, key string) string {
	key = clip(key)
	switch {
	case !plain(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// Index writes the step from a path to an element of the list there.
func Index(path string, index int) string {
	return path + "[" + strconv.Itoa(index) + "]"
}

// Join writes a path below another.
func Join(path, below string) string {
	if path == "" || below == "" || below[0] == '[' {
		return path + below
	}
	return path + "." + below
}

func plain(key string) bool {
	for i := range len(key) {
		c := key[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return key != ""
}

func pathOf(segments []segment) string {
	path := ""
	for _, s := range segments {
		if s.key == nil {
			path = Index(path, s.index)
		} else {
			path = Key(path, string(s.key))
		}
	}
	return path
}

// step cuts the first step off a path that Key and Index wrote. A path in
// another form ends there.
func step(path string) (first segment, rest string, ok bool) {
	if path == "" {
		return segment{}, "", false
	}
	if path[0] != '[' {
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		return segment{key: []byte(path[:end])}, path[end:], true
	}
	if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
		key, _ := strconv.Unquote(quoted)
		return segment{key: []byte(key)}, strings.TrimPrefix(path[1+len(quoted):], "]"), true
	}
	number, rest, found := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(number)
	return segment{index: index}, rest, found && err == nil
}
