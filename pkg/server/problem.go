package server

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// problem is the body of every refusal: RFC 9457, with our kind and all mistakes.
type problem struct {
	Status int             `json:"status"`
	Kind   string          `json:"kind"`
	Detail string          `json:"detail"`
	Errors []fault.Problem `json:"errors,omitempty"`
}

// refusal is a fault that is answered with another status than its kind's.
type refusal struct {
	fault  *fault.Error
	status int
}

func (r refusal) Error() string { return r.fault.Error() }

func (r refusal) Unwrap() error { return r.fault }

// problem answers an error, unless an answer was begun.
func (s *Server) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p, retryAfter := describe(err)
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/problem+json")
	if p.Status == http.StatusUnauthorized && c.Path() == functionRoute {
		header.Set(echo.HeaderWWWAuthenticate, "Bearer")
	}
	setRetryAfter(c, p.Status, retryAfter)
	s.setWriteDeadline(c)
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte("{}")
	}
	body = append(body, '\n')
	// Who has not sent its body yet must see where the answer ends.
	header.Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	c.Response().WriteHeader(p.Status)
	if c.Request().Method != http.MethodHead {
		_, _ = c.Response().Write(body) // nobody is left to be told
	}
}

func describe(err error) (problem, time.Duration) {
	var routing *echo.HTTPError
	if errors.As(err, &routing) {
		if routing.Code == http.StatusMethodNotAllowed {
			return problem{Status: routing.Code, Kind: "method", Detail: "this address does not answer to this method"}, 0
		}
		err = fault.New(fault.NotFound, "there is nothing at this address")
	}
	f := fault.From(err)
	p := problem{Status: f.Kind.Status(), Kind: string(f.Kind), Detail: f.Detail, Errors: f.Problems}
	var refused refusal
	if errors.As(err, &refused) {
		p.Status = refused.status
	}
	return p, f.RetryAfter
}

// setRetryAfter says when a retryable call may come again.
func setRetryAfter(c echo.Context, status int, after time.Duration) {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway:
		if after <= 0 {
			after = limits.RetryAfter
		}
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
}

// setWriteDeadline bounds how long the reader of an answer may take.
func (s *Server) setWriteDeadline(c echo.Context) {
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(s.Limits.BodyTime.Duration)) // tests' recorders have none
}
