package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
)

// Invoke calls a function for a route of a hook.
func (s *Server) Invoke(ctx context.Context, name string, call function.Call) (function.Response, error) {
	f, ok := s.Functions.Find(name)
	if !ok {
		return function.Response{}, fault.New(fault.NotFound, "there is no function %s", name)
	}
	start := time.Now()
	response, err := s.invoke(ctx, f, call)
	status := response.Status
	if err != nil {
		status = fault.KindOf(err).Status()
		s.log("call of a route", err, callerKey, call.Caller.Name, "function", name)
	}
	s.Metrics.Request(name, status, time.Since(start))
	return response, err
}

// invoke calls a function within its time. A panic in it is an Internal fault
// that keeps the stack as its cause; a call that its time cut may be tried again.
func (s *Server) invoke(ctx context.Context, f function.Function, call function.Call) (response function.Response, err error) {
	limit := s.Limits.FunctionTime.Duration
	if f.Timeout > 0 {
		limit = f.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			response, err = function.Response{}, panicked(p)
		}
		if err != nil && ctx.Err() != nil && fault.KindOf(err) == fault.Internal {
			err = fault.Wrap(fault.Unavailable, err, "%s did not end within %s", f.Name, limit)
		}
	}()
	return f.Handle(ctx, call)
}

func panicked(p any) error {
	return fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", p, debug.Stack()), "internal error")
}

// count counts what a direct call created: a run, or those of a delivery that
// push or alert handed over.
func (s *Server) count(name string, response function.Response) {
	if answer, ok := response.Body.(hook.Answer); ok {
		s.Metrics.Answered(answer)
	} else if name == "submit" && response.Status == http.StatusCreated {
		s.Metrics.Submitted()
	}
}
