package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// Prefix stands before a hook's path in its URL.
const Prefix = "/hooks/"

// Replayer tells what a saved request would come to, and sends nothing.
type Replayer struct {
	Hooks []*Hook
	// BodyLimit is the same as the server's.
	BodyLimit int64
	// Check is what the function would say of the request without a cluster;
	// nil: nothing.
	Check func(function string, request json.RawMessage) error
}

// Report is the answer of a replay.
type Report struct {
	Status    int      `json:"status"`
	Events    []Event  `json:"events"`
	Decisions []Result `json:"decisions"`
	Error     string   `json:"error"` // empty where nothing was refused
	// TruncatedAlerts is told only where alerts were cut.
	TruncatedAlerts int `json:"truncatedAlerts,omitempty"`
}

// Replay reads a saved request and gives the report.
func (r Replayer) Replay(saved io.Reader, now time.Time) Report {
	text := bufio.NewReader(saved)
	request, err := http.ReadRequest(text)
	if err != nil {
		// What http says quotes the request, which may hold a token.
		return report(fault.Malformed.Status(), fault.Wrap(fault.Malformed, err,
			"this is not a saved HTTP request: it begins with POST %s<path> HTTP/1.1, then come headers, an empty line and the body", Prefix))
	}
	if request.Header["Content-Length"] == nil && len(request.TransferEncoding) == 0 {
		// HTTP takes a request without a length for one without a body; who
		// copied it from a host's page has the body all the same.
		request.Body, request.ContentLength = io.NopCloser(text), -1
	}
	h, err := r.find(request)
	if err != nil {
		return report(fault.KindOf(err).Status(), err)
	}
	out, err := r.accept(h, request, now)
	if err != nil {
		return report(h.RefusalStatus(fault.KindOf(err)), err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.HookTime)
	defer cancel()
	answer := h.Act(ctx, out, checker(r.Check))
	for i := range answer.Decisions {
		if answer.Decisions[i].Call != "" {
			answer.Decisions[i].Request = out.Decisions[i].Request
		}
	}
	final := Report{Status: answer.Status, Events: answer.Events, Decisions: answer.Decisions, TruncatedAlerts: answer.TruncatedAlerts}
	if answer.Status >= http.StatusBadRequest {
		final.Error = "a function refuses its request: see decisions"
	}
	return final
}

func (r Replayer) find(request *http.Request) (*Hook, error) {
	path, ok := strings.CutPrefix(request.URL.Path, Prefix)
	if !ok || request.Method != http.MethodPost {
		return nil, fault.New(fault.NotFound, "deliveries are sent by POST to %s<path>", Prefix)
	}
	for _, h := range r.Hooks {
		if h.path == path {
			return h, nil
		}
	}
	return nil, fault.New(fault.NotFound, "the config has no hook of that path")
}

// accept keeps the server's order: head, length, body, proof.
func (r Replayer) accept(h *Hook, request *http.Request, now time.Time) (Outcome, error) {
	if err := CheckHead(request.Header); err != nil {
		return Outcome{}, err
	}
	body, err := ReadBody(request.Body, request.ContentLength, r.BodyLimit)
	if err != nil {
		return Outcome{}, err
	}
	return h.Accept(Delivery{Header: request.Header, Body: body}, now)
}

func report(status int, err error) Report {
	return Report{Status: status, Events: []Event{}, Decisions: []Result{}, Error: fault.From(err).Error()}
}

// checker is an invoker that only looks at requests.
type checker func(function string, request json.RawMessage) error

func (c checker) Invoke(_ context.Context, name string, call function.Call) (function.Response, error) {
	if c == nil || call.Body == nil {
		return function.Response{Status: http.StatusOK}, nil
	}
	return function.Response{Status: http.StatusOK}, c(name, call.Body)
}
