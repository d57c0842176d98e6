package gordo

import (
	"fmt"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Warning is something in a config that does not do what it seems to say.
type Warning struct {
	Code   Code   `json:"code"`
	Path   string `json:"path"`
	Detail string `json:"detail"` // what happens, and what to write instead
}

// String gives `G001 path: detail`.
func (w Warning) String() string { return fmt.Sprintf("%s %s: %s", w.Code, w.Path, w.Detail) }

// Strict makes an error of warnings; nil when there are none.
func Strict(warnings []Warning) error {
	var list fault.List
	for i, w := range warnings {
		if i == limits.Problems {
			break
		}
		list.Add(w.Path, "%s %s", w.Code, w.Detail)
	}
	return list.Err(fault.Invalid, "the config has warnings, and strict makes them errors")
}

// report gathers the mistakes and warnings of one config.
type report struct {
	problems fault.List
	warnings []Warning
}

func (r *report) fail(path, format string, args ...any) {
	if r.problems.Len() < limits.Problems {
		r.problems.Add(path, format, args...)
	}
}

func (r *report) warn(code Code, path, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{code, path, fmt.Sprintf(format, args...)})
}

// failed reports whether a part of the work noted a mistake.
func (r *report) failed(before int) bool { return r.problems.Len() > before }

// full reports whether no more mistakes are told, so that work may end.
func (r *report) full() bool { return r.problems.Len() >= limits.Problems }

func (r *report) err() error {
	return r.problems.Err(fault.Invalid, "the config is not valid")
}
