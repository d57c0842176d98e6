// Package logs gives the logs of every attempt of a task.
package logs

import (
	"context"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
)

// Cluster is what logs reads.
type Cluster interface {
	lookup.Cluster
	Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error)
	Log(ctx context.Context, pod, container string, lines *int64, bytes int64) ([]byte, error)
	FollowLog(ctx context.Context, pod, container string, lines *int64) (io.ReadCloser, error)
}

// Request names a task, or one worker of a split task.
type Request struct {
	Run string `json:"run"`
	// Task is a task's id, or that of one part of a split task: `fit-merge`.
	Task   string `json:"task"`
	Worker *int   `json:"worker,omitempty"`
	// Tail is how many of the last lines of each log are taken; default: all.
	Tail *int64 `json:"tail,omitempty"`
	// Follow goes on with what is printed from now on, as text.
	Follow bool `json:"follow,omitempty"`
}

// Response lists the logs by part of the task, then oldest attempt first.
type Response struct {
	Logs []Log `json:"logs"`
}

// Log is what the main container of one attempt has printed, or why that
// cannot be read.
type Log struct {
	Pod  string `json:"pod"`
	Task string `json:"task"`
	// Worker is null for what is no worker of a split task.
	Worker  *int `json:"worker"`
	Attempt int  `json:"attempt"` // as the program saw it in RUNHOOK_ATTEMPT
	// Container is named where a pod of a foreign Workflow has several.
	Container  string `json:"container,omitempty"`
	Terminated bool   `json:"terminated"` // false: it may print more
	Text       string `json:"text"`       // its last lines
	Truncated  bool   `json:"truncated"`  // there was more
	// Error says why the log could not be read; empty: it was.
	Error string `json:"error"`
}

// New makes the function.
func New(cluster Cluster, foreign owner.Foreign) function.Function {
	r := reader{cluster, lookup.Finder{Cluster: cluster, Foreign: foreign}, lookAgain}
	return function.Function{
		Name:    "logs",
		Summary: "gives the logs of every attempt of a task",
		Access: []function.Access{
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list"}},
			{Resource: "pods", Verbs: []string{"list"}},
			{Resource: "pods/log", Verbs: []string{"get"}},
		},
		Reads:    true,
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(Request.check),
		Handle:   function.Typed(r.handle),
	}
}

func (r Request) check() error {
	var mistakes fault.List
	lookup.CheckName(r.Run, &mistakes)
	if r.Task == "" {
		mistakes.Add("task", "is missing: name a task of the run")
	}
	if r.Worker != nil && *r.Worker < 0 {
		mistakes.Add("worker", "%d is not the number of a worker: they are counted from 0", *r.Worker)
	}
	if r.Tail != nil && *r.Tail < 0 {
		mistakes.Add("tail", "%d is not a number of lines", *r.Tail)
	}
	return mistakes.Err(fault.Invalid, "the request is not valid")
}

// reader answers the calls.
type reader struct {
	cluster Cluster
	find    lookup.Finder
	// every is how often a follower looks for further attempts.
	every time.Duration
}

func (r reader) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	if err := request.check(); err != nil {
		return function.Response{}, err
	}
	found, err := r.look(ctx, call.Caller, request)
	if err != nil {
		return function.Response{}, err
	}
	if request.Follow {
		follow := follower{reader: r, caller: call.Caller, request: request}
		return function.Response{Status: http.StatusOK, Stream: func(ctx context.Context, w io.Writer) error {
			return follow.to(ctx, w, found)
		}}, nil
	}
	logs := r.read(ctx, found.sources, request.Tail)
	if call.Text {
		return function.Response{Status: http.StatusOK, Stream: func(_ context.Context, w io.Writer) error {
			return writeAll(w, logs)
		}}, nil
	}
	return function.Response{Status: http.StatusOK, Body: Response{logs}}, nil
}
