package hook

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/strict"
)

// glob is one pattern of a list.
type glob struct {
	pattern string
	exclude bool
}

// globs is a list of patterns of which the last match decides.
type globs []glob

// compileGlobs checks the patterns of a filter at a path of the config.
func compileGlobs(path string, patterns []string, problems *fault.List) globs {
	list := make(globs, 0, len(patterns))
	includes := false
	for i, text := range patterns {
		pattern, exclude := strings.CutPrefix(text, "!")
		if pattern == "" || !doublestar.ValidatePattern(pattern) {
			problems.Add(strict.Index(path, i), "%q is not a glob", text)
			continue
		}
		includes = includes || !exclude
		list = append(list, glob{pattern, exclude})
	}
	if len(list) > 0 && !includes {
		problems.Add(path, "only exclusions match nothing: let \"**\" come first")
	}
	return list
}

// match reports whether the list selects a name.
func (g globs) match(name string) bool {
	for i := len(g) - 1; i >= 0; i-- {
		if doublestar.MatchUnvalidated(g[i].pattern, name) {
			return !g[i].exclude
		}
	}
	return false
}

// matchAny reports whether the list selects one of the names.
func (g globs) matchAny(names []string) bool {
	for _, name := range names {
		if g.match(name) {
			return true
		}
	}
	return false
}
