// Package fault holds runhook's one error type. A fault says what was wrong,
// where, and what to do; its Kind alone decides the HTTP status, whether a
// second try may help, and the reason label of a metric.
package fault

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// Kind says what sort of thing went wrong. The set is closed: it is used as a
// metric label and as the `kind` field of problem+json.
type Kind string

// The kinds, by the HTTP status they answer with.
const (
	Malformed   Kind = "malformed"   // 400: the bytes do not decode
	Unproven    Kind = "unproven"    // 401: nobody, or nobody we can believe
	Forbidden   Kind = "forbidden"   // 403: known, and not allowed
	NotFound    Kind = "not-found"   // 404: no such thing, or not one the caller may see
	Conflict    Kind = "conflict"    // 409: something else has the name, or the state forbids it
	TooLarge    Kind = "too-large"   // 413: over a limit of bytes
	MediaType   Kind = "media-type"  // 415: a content type or encoding that is not read here
	Invalid     Kind = "invalid"     // 422: understood, but not acceptable
	TooMany     Kind = "too-many"    // 429: over a rate
	BadUpstream Kind = "upstream"    // 502: a registry or host answered nonsense
	Unavailable Kind = "unavailable" // 503: the cluster, or what a call needs, is away
	Internal    Kind = "internal"    // 500: a mistake of ours
)

// Kinds lists every kind, so that metrics can be created at 0.
var Kinds = []Kind{Malformed, Unproven, Forbidden, NotFound, Conflict, TooLarge, MediaType, Invalid, TooMany, BadUpstream, Unavailable, Internal}

// Status is the HTTP status of a kind.
func (k Kind) Status() int {
	switch k {
	case Malformed:
		return 400
	case Unproven:
		return 401
	case Forbidden:
		return 403
	case NotFound:
		return 404
	case Conflict:
		return 409
	case TooLarge:
		return 413
	case MediaType:
		return 415
	case Invalid:
		return 422
	case TooMany:
		return 429
	case BadUpstream:
		return 502
	case Unavailable:
		return 503
	default:
		return 500
	}
}

// Retryable reports whether the same call may succeed later.
func (k Kind) Retryable() bool {
	return k == Unavailable || k == TooMany || k == BadUpstream
}

// Problem is one mistake of a request and where it stands.
type Problem struct {
	Path   string `json:"path"`   // as in `tasks[2].resources.memory`; empty for the whole
	Detail string `json:"detail"` // what is wrong, and what would be right
}

// Error is the one error type of runhook.
type Error struct {
	Kind       Kind
	Detail     string        // one sentence for a person
	Problems   []Problem     // every mistake of a request, in order of path
	RetryAfter time.Duration // when a retryable call may be tried again; 0: no opinion
	cause      error
}

// New makes a fault of a kind.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault of a kind that keeps its cause for errors.Is and for logs.
// The cause's text is not shown to the caller: say what a caller needs in the detail.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...), cause: cause}
}

// Error gives the detail and every problem with its path.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return e.Detail
	}
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.String()
	}
	return e.Detail + ": " + strings.Join(parts, "; ")
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// String gives `path: detail`, or the detail alone.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Detail
	}
	return p.Path + ": " + p.Detail
}

// From finds the fault in an error chain. An error that is none is an Internal
// fault, whose detail says nothing of the error's text.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Wrap(Internal, err, "internal error")
}

// KindOf is the kind of an error; empty for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return From(err).Kind
}

// List gathers the mistakes of one request, so that all are told at once.
// The zero value is ready for use.
type List struct{ problems []Problem }

// Add notes a mistake at a path.
func (l *List) Add(path, format string, args ...any) {
	l.problems = append(l.problems, Problem{Path: path, Detail: fmt.Sprintf(format, args...)})
}

// Len is how many mistakes were noted.
func (l *List) Len() int { return len(l.problems) }

// Err is nil when nothing was noted, else one fault of the kind that holds every mistake.
func (l *List) Err(kind Kind, detail string) error {
	if len(l.problems) == 0 {
		return nil
	}
	sort.SliceStable(l.problems, func(i, j int) bool { return l.problems[i].Path < l.problems[j].Path })
	return &Error{Kind: kind, Detail: detail, Problems: l.problems}
}
