package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/metrics"
)

// deliver answers POST /hooks/:path: route, content type and length, read,
// verify, decode, filters, act.
func (s *Server) deliver(c echo.Context) error {
	h, ok := s.Hooks[c.Param("path")]
	if !ok {
		return fault.New(fault.NotFound, "there is no such hook")
	}
	outcome, err := s.accept(c.Request(), h)
	if err != nil {
		s.Metrics.Delivery(h.Provider(), string(fault.KindOf(err)))
		return refusal{fault.From(err), h.RefusalStatus(fault.KindOf(err))}
	}
	if len(outcome.Events) > 0 {
		c.Set(deliveryKey, outcome.Events[0].Delivery)
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.Limits.HookTime.Duration)
	defer cancel()
	answer := h.Act(ctx, outcome, s)
	s.Metrics.Delivery(h.Provider(), resultOf(answer.Status))
	s.Metrics.Answered(answer)
	s.setWriteDeadline(c)
	setRetryAfter(c, answer.Status, answer.RetryAfter)
	return c.JSON(answer.Status, answer)
}

// accept reads and proves a delivery. What is not proven counts against the
// address that sent it, never against the hook: else anybody could use up the
// share of the hook's owner.
func (s *Server) accept(request *http.Request, h *hook.Hook) (hook.Outcome, error) {
	if err := hook.CheckHead(request.Header); err != nil {
		return hook.Outcome{}, err
	}
	body, err := hook.ReadBody(request.Body, request.ContentLength, s.Limits.HookBody.Value())
	if err != nil {
		return hook.Outcome{}, err
	}
	outcome, err := h.Accept(hook.Delivery{Header: request.Header, Body: body}, time.Now())
	switch {
	case fault.KindOf(err) == fault.Unproven, err == nil && !outcome.Proven:
		if tooMany := s.addressRates.Take(auth.Address(request.RemoteAddr)); tooMany != nil {
			return hook.Outcome{}, tooMany
		}
	case err == nil:
		err = s.hookRates.Take(h.Path())
	}
	return outcome, err
}

// resultOf is the metric's label of an answer.
func resultOf(status int) string {
	switch status {
	case http.StatusAccepted:
		return metrics.Accepted
	case http.StatusOK:
		return metrics.Ignored
	}
	for _, kind := range fault.Kinds {
		if kind.Status() == status {
			return string(kind)
		}
	}
	return string(fault.Internal)
}
