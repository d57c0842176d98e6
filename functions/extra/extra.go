// Package extra says how many helpers a split task may have now.
package extra

import (
	"context"
	"net/http"
	"time"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
)

// Settings are the parts of the config that extra follows.
type Settings struct {
	Foreign owner.Foreign
	// Priorities are the classes by the config's names.
	Priorities map[string]argo.Priority
}

// Request names a split task and how many helpers it may have.
type Request struct {
	Run  string `json:"run"`
	Task string `json:"task"`
	// Workers is the number of helpers. It must be given: without it a slip of
	// the pen would stop them all.
	Workers *int `json:"workers"`
}

// Response says how many helpers there are, and whether this call changed it.
type Response struct {
	Run     string `json:"run"`
	Task    string `json:"task"`
	Workers int    `json:"workers"`
	Changed bool   `json:"changed"`
}

// New makes the function.
func New(cluster extra.Cluster, settings Settings) function.Function {
	h := handling{lookup.Finder{Cluster: cluster, Foreign: settings.Foreign}, extra.New(cluster, settings.Priorities, time.Now)}
	return function.Function{
		Name:     "extra",
		Summary:  "says how many helpers a split task may have now, and creates or stops them",
		Access:   []function.Access{extra.Access},
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(Request.check),
		Handle:   function.Typed(h.handle),
	}
}

func (r Request) check() error {
	var mistakes fault.List
	lookup.CheckName(r.Run, &mistakes)
	if r.Task == "" {
		mistakes.Add("task", "is missing: name a split task of the run")
	}
	switch {
	case r.Workers == nil:
		mistakes.Add("workers", "is missing: how many helpers the task may have now")
	case *r.Workers < 0:
		mistakes.Add("workers", "%d is not a number of helpers", *r.Workers)
	}
	return mistakes.Err(fault.Invalid, "the request is not valid")
}

// handling answers the calls.
type handling struct {
	find    lookup.Finder
	helping extra.Helping
}

func (h handling) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	if err := request.check(); err != nil {
		return function.Response{}, err
	}
	run, err := h.find.RunToChange(ctx, call.Caller, request.Run)
	if err != nil {
		return function.Response{}, err
	}
	result, err := h.helping.Set(ctx, run, request.Task, *request.Workers)
	if err != nil {
		return function.Response{}, err
	}
	response := function.Response{Status: http.StatusOK, Body: Response{request.Run, request.Task, result.Workers, result.Changed}}
	if result.Workers != *request.Workers {
		response.Status = http.StatusAccepted
	}
	return response, nil
}
