package hook

import (
	"fmt"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// failedAt says which expression failed, by its path in the route.
func failedAt(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

// detailOf is what an answer tells of an expression that failed: a payload may
// be quoted in it, so it is kept short.
func detailOf(err error) string {
	text := err.Error()
	if len(text) > limits.Quoted {
		return strings.ToValidUTF8(text[:limits.Quoted], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// blame lays a problem of the request at the expression of `set` whose value
// it is about; false: it is about none.
func (m mapping) blame(p fault.Problem) (fault.Problem, bool) {
	path, err := parseFieldPath(p.Path)
	if err != nil {
		return p, false
	}
	for _, f := range m.fields {
		if !path.within(f.path) {
			continue
		}
		// Quotes are the hint for a literal; in CEL they would make a text of the expression itself.
		if wrong, _, hinted := strings.Cut(p.Detail, "; put "); hinted {
			p.Detail = wrong + "; write string(…)"
		}
		p.Path = strict.Key("set", f.path.String())
		return p, true
	}
	return p, false
}

// refusal is the first problem of a request that the function cannot decode:
// what is not set was checked with the config.
func (m mapping) refusal(err error) error {
	for _, p := range fault.From(err).Problems {
		if blamed, ok := m.blame(p); ok {
			return failedAt(blamed.Path, fault.New(fault.Invalid, "%s", blamed.Detail))
		}
	}
	return failedAt("set", err)
}
