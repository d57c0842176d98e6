package hook

import (
	"context"
	"encoding/json"

	"github.com/cenkalti/backoff/v5"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/run"
)

// Invoker calls a function by its name.
type Invoker interface {
	Invoke(ctx context.Context, name string, call function.Call) (function.Response, error)
}

// Memory lets an alert act once, however often it is sent.
type Memory interface {
	// Do acts, unless it was done for this key: act reports whether all is done.
	Do(ctx context.Context, key string, act func() bool) (acted bool, err error)
}

// Runs finds the runs that an alert is about: each as its status in JSON, with
// its queue and its priority, longest in the phase first.
type Runs interface {
	Select(ctx context.Context, selection Selection) ([]map[string]any, error)
}

// Act calls the functions of an outcome, one after the other, so that the
// pushes of one delivery act in their order. The context needs a deadline: it
// bounds how often a call is tried while the cluster is away.
func (h *Hook) Act(ctx context.Context, out Outcome, invoker Invoker) Answer {
	results := make([]Result, 0, len(out.Decisions))
	for i := range out.Decisions {
		results = append(results, h.act(ctx, &out.Decisions[i], invoker)...)
	}
	return h.answer(out, results)
}

func (h *Hook) act(ctx context.Context, d *Decision, invoker Invoker) []Result {
	switch {
	case d.Ignored != "":
		return []Result{ignored(d, d.Ignored, d.Detail)}
	case d.event.Type != Alert || h.memory == nil:
		return h.calls(ctx, d, invoker)
	}
	var results []Result
	acted, err := h.memory.Do(ctx, d.Key, func() bool {
		results = h.calls(ctx, d, invoker)
		return done(results)
	})
	switch {
	case err != nil:
		return []Result{refused(d, err)}
	case !acted:
		return []Result{ignored(d, IgnoredDuplicate, "")}
	}
	return results
}

// done reports whether an alert that comes again has nothing to do: a call
// succeeded and none may succeed later. What was refused or found no run is
// tried again when Alertmanager repeats itself.
func done(results []Result) bool {
	succeeded := false
	for _, r := range results {
		if r.Error != nil && r.Error.kind.Retryable() {
			return false
		}
		succeeded = succeeded || r.Call != "" && r.Error == nil
	}
	return succeeded
}

// calls calls a decision's function: once, or for each run that it selects. A
// replay has no runs to show, and tells the call alone.
func (h *Hook) calls(ctx context.Context, d *Decision, invoker Invoker) []Result {
	if d.Select == nil || h.runs == nil {
		return []Result{h.call(ctx, d, d.Request, d.Key, invoker)}
	}
	runs, err := h.runs.Select(ctx, *d.Select)
	switch {
	case err != nil:
		return []Result{refused(d, err)}
	case len(runs) == 0:
		return []Result{ignored(d, IgnoredNoMatch, "")}
	}
	results := make([]Result, 0, len(runs))
	for _, about := range runs {
		request, err := d.RequestFor(about)
		if err != nil {
			results = append(results, ignored(d, IgnoredMapping, detailOf(err)))
			continue
		}
		name, _ := about["run"].(string)
		results = append(results, h.call(ctx, d, request, run.Hash(d.Key, name), invoker))
	}
	return results
}

func (h *Hook) call(ctx context.Context, d *Decision, request json.RawMessage, key string, invoker Invoker) Result {
	call := function.Call{
		Caller: function.Caller{Name: "hook:" + h.path + "/" + d.Route, Everything: true},
		Body:   request, Key: key, Origin: d.Origin,
	}
	response, err := invoke(ctx, invoker, d.Call, call)
	if err != nil {
		return refused(d, err)
	}
	return called(d, response)
}

func ignored(d *Decision, reason Reason, detail string) Result {
	return Result{Event: d.Event, Route: d.Route, Ignored: reason, Detail: detail}
}

// invoke calls a function, and again within the context's time while the
// cluster is away: GitHub, GitLab and Gitea do not send a delivery again.
func invoke(ctx context.Context, invoker Invoker, name string, call function.Call) (function.Response, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = limits.HookPause, limits.HookPauseCap
	var last error
	response, err := backoff.Retry(ctx, func() (function.Response, error) {
		if err := ctx.Err(); err != nil {
			if last == nil {
				last = outOfTime(err)
			}
			return function.Response{}, backoff.Permanent(last)
		}
		response, err := invoker.Invoke(ctx, name, call)
		switch {
		case err == nil:
			return response, nil
		case ctx.Err() != nil && !fault.KindOf(err).Retryable():
			err = outOfTime(err)
		}
		last = err
		if fault.KindOf(err) != fault.Unavailable {
			return response, backoff.Permanent(err)
		}
		return response, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	if err != nil && last != nil {
		return response, last // not the context's end, but what was waited for
	}
	return response, err
}

// outOfTime is what a call comes to that the deadline cut: it may succeed later.
func outOfTime(cause error) error {
	return fault.Wrap(fault.Unavailable, cause, "the call did not end within the time of a hook")
}

// called reads of a function's response what an answer tells.
func called(d *Decision, response function.Response) Result {
	result := Result{Event: d.Event, Route: d.Route, Call: d.Call}
	var told struct {
		Run     string `json:"run"`
		Created *bool  `json:"created"`
		Status  any    `json:"status"`
		Ignored Reason `json:"ignored"`
		Runs    []struct {
			Run     string `json:"run"`
			Created *bool  `json:"created"`
		} `json:"runs"`
	}
	data, err := json.Marshal(response.Body)
	if err != nil || json.Unmarshal(data, &told) != nil {
		return result // a response of another form: that it was called is all there is to tell
	}
	if told.Ignored != "" {
		return ignored(d, told.Ignored, "")
	}
	result.Run, result.Created = told.Run, told.Created
	if len(told.Runs) > 0 { // of a project split into several the first stands for all
		result.Run, result.Created = told.Runs[0].Run, told.Runs[0].Created
	}
	result.URL, _ = told.Status.(string)
	return result
}

func refused(d *Decision, err error) Result {
	f := fault.From(err)
	return Result{
		Event: d.Event, Route: d.Route, Call: d.Call,
		Error: &Refusal{Code: f.Kind.Status(), Detail: f.Error(), kind: f.Kind, after: f.RetryAfter},
	}
}
