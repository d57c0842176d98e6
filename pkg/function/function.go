// Package function says what a function is: a name, a sentence, the access it
// needs and a handler from request to response. HTTP, command line, RBAC and
// documentation are made from it.
package function

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/runhook/runhook/pkg/strict"
)

// Function is one action on the cluster.
type Function struct {
	// Name is its name in URLs, in the config and on the command line.
	Name string
	// Summary is one sentence, without a full stop.
	Summary string
	// Access lists what it needs of the cluster; RBAC is generated from it.
	Access []Access
	// Reads is true when it changes nothing; it then answers GET too.
	Reads bool
	// DryRuns is true when it obeys Call.DryRun; any other refuses it.
	DryRuns bool
	// Timeout is how long a call may take; 0: limits.FunctionTime.
	Timeout time.Duration
	// Request and Response are zero values of what is taken and given; the
	// documentation is made from their types.
	Request, Response any
	// Check says what is wrong with a request as far as can be told without
	// the cluster; nil: only its form is looked at.
	Check func(request json.RawMessage) error
	// Handle does it.
	Handle func(ctx context.Context, call Call) (Response, error)
}

// Access is one rule of RBAC.
type Access struct {
	Group    string // API group; "" is core
	Resource string
	Verbs    []string
	Names    []string // object names; none: all
	Cluster  bool     // true: not bound to the namespace of the runs
}

// Call is one call of a function.
type Call struct {
	Caller Caller
	// Body is the request as JSON.
	Body json.RawMessage
	// Key is the caller's idempotency key; empty: none was given.
	Key string
	// DryRun asks for the API server's dry run.
	DryRun bool
	// Text says that the caller would rather read text than JSON, as with
	// `Accept: text/plain`; a function that has none ignores it.
	Text bool
	// Stopping is closed when the server is about to stop: a call that waits
	// for something answers with what there is. Nil never is.
	Stopping <-chan struct{}
	// Origin says which delivery led here; nil for a direct call.
	Origin *Origin
}

// Response is what a function gives.
type Response struct {
	// Status is the HTTP status. It is not 2xx where the body tells of several
	// calls, of which some were refused.
	Status int
	// RetryAfter goes with 503; 0: no opinion.
	RetryAfter time.Duration
	Body       any // encoded as JSON
	// Stream, when set, is the answer instead of Body: it writes text
	// (text/plain in UTF-8), of which each write goes out at once, and ends
	// with the context. It is called once, after Handle, and not under the
	// time limit of Handle. What goes wrong before the first write is answered
	// as a problem; later it ends the text.
	Stream func(ctx context.Context, w io.Writer) error
}

// Caller is who calls, and what they may do beyond calling the function.
type Caller struct {
	Name         string
	Queues       []string // LocalQueues; "" is a run without a queue
	Priorities   []string
	Repositories []string // whole path segments
	Secrets      []string
	Claims       []string
	Hooks        []string // whose routes `push` and `alert` may use
	Functions    []string
	AllRuns      bool // false: only runs with its own annotation runhook/caller
	Scheduling   bool // pins, reserved, reserve, unreserve
	Everything   bool // a route of a hook: the config's author wrote it
}

// Origin is the delivery that a call came from. It becomes the annotation
// runhook/source of a run.
type Origin struct {
	Route      string `json:"route"` // "<hook path>/<route>"
	Provider   string `json:"provider,omitempty"`
	Delivery   string `json:"delivery,omitempty"`
	Host       string `json:"host,omitempty"`
	Repo       string `json:"repo,omitempty"`
	CloneURL   string `json:"cloneURL,omitempty"`
	Ref        string `json:"ref,omitempty"`
	SHA        string `json:"sha,omitempty"`
	Before     string `json:"before,omitempty"`
	Sender     string `json:"sender,omitempty"`
	Forced     bool   `json:"forced,omitempty"`
	Committed  string `json:"committed,omitempty"` // RFC 3339
	Name       string `json:"-"`                   // the run's name, made from the key
	RefLabel   string `json:"-"`                   // hash of route, host, repo, ref
	Supersedes bool   `json:"-"`
}

// Typed makes a handler from a function of Go types: it decodes the body strictly.
func Typed[Request any](handle func(ctx context.Context, call Call, request Request) (Response, error)) func(context.Context, Call) (Response, error) {
	return func(ctx context.Context, call Call) (Response, error) {
		var request Request
		if err := strict.JSON(call.Body, &request); err != nil {
			return Response{}, err
		}
		return handle(ctx, call, request)
	}
}

// Checked makes a check from a rule on Go types: it decodes the body as Typed does.
func Checked[Request any](check func(Request) error) func(json.RawMessage) error {
	return func(body json.RawMessage) error {
		var request Request
		if err := strict.JSON(body, &request); err != nil {
			return err
		}
		return check(request)
	}
}
