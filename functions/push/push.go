// Package push hands a push, which a Sensor has taken in, to the routes of a
// hook: as if the host had delivered it there.
package push

import (
	"context"
	"encoding/json"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
)

// Request is a payload with what its headers said.
type Request struct {
	// Hook is the path of the hook whose routes are tried.
	Hook string `json:"hook"`
	// Event is the host's event name, such as `push`.
	Event string `json:"event"`
	// Delivery is the host's id; empty: the payload's hash stands for it.
	Delivery string `json:"delivery,omitempty"`
	// Payload is the JSON as sent. Argo Events writes it anew, which is why
	// its signature cannot be verified here.
	Payload json.RawMessage `json:"payload"`
}

// New makes the function. Hooks are found by their path.
func New(hooks map[string]*hook.Hook, invoker hook.Invoker) function.Function {
	return function.Function{
		Name:     "push",
		Summary:  "hands a push that a Sensor has taken in to the routes of a hook",
		Request:  Request{},
		Response: hook.Answer{},
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			return Through(ctx, hooks, invoker, call, request)
		}),
	}
}

// Through hands a delivery to the routes of its hook, and answers as the hook does.
func Through(ctx context.Context, hooks map[string]*hook.Hook, invoker hook.Invoker, call function.Call, request Request) (function.Response, error) {
	if err := request.check(); err != nil {
		return function.Response{}, err
	}
	h, err := find(hooks, call.Caller, request.Hook)
	if err != nil {
		return function.Response{}, err
	}
	outcome, err := h.Handed(request.Event, request.Delivery, request.Payload)
	if err != nil {
		return function.Response{}, err
	}
	answer := h.Act(ctx, outcome, invoker)
	return function.Response{Status: answer.Status, Body: answer, RetryAfter: answer.RetryAfter}, nil
}

// check asks for what every delivery has; not every host names its events.
func (r Request) check() error {
	var mistakes fault.List
	if r.Hook == "" {
		mistakes.Add("hook", "is missing: name the path of a hook")
	}
	if len(r.Payload) == 0 {
		mistakes.Add("payload", "is missing: give the JSON as the host sent it")
	}
	return mistakes.Err(fault.Invalid, "the request is not valid")
}

// find gives a hook that the caller may use; one that it may not is told
// apart, as the caller's config names the hooks anyway.
func find(hooks map[string]*hook.Hook, caller function.Caller, path string) (*hook.Hook, error) {
	if !caller.MayUseHook(path) {
		return nil, fault.New(fault.Forbidden, "the caller %s may not use the hook %q", caller.Name, path)
	}
	h, ok := hooks[path]
	if !ok {
		return nil, &fault.Error{Kind: fault.Invalid, Detail: "the request is not valid", Problems: []fault.Problem{{Path: "hook", Detail: "there is no hook of this path"}}}
	}
	return h, nil
}
