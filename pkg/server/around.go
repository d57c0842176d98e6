package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// What a handler leaves for the log.
const (
	callerKey   = "caller"
	deliveryKey = "delivery"
)

const functionRoute = "/functions/:name"

// logged writes one line for each request: neither query, header nor body is
// in it. Probes come every second or two and say nothing.
func (s *Server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if c.Path() == "/healthz" || c.Path() == "/readyz" {
			return nil
		}
		attributes := []any{
			"method", c.Request().Method, "path", clip(c.Request().URL.Path), "status", c.Response().Status,
			"seconds", time.Since(start).Seconds(), "bytes", c.Response().Size, "address", auth.Address(c.Request().RemoteAddr),
		}
		for _, key := range []string{callerKey, deliveryKey} {
			if value, ok := c.Get(key).(string); ok {
				attributes = append(attributes, key, clip(value))
			}
		}
		s.log("request", err, attributes...)
		return nil
	}
}

// log writes a line. An error that is not the caller's mistake is told with its
// cause; of one that is, the kind is enough, for its text holds the caller's.
func (s *Server) log(message string, err error, attributes ...any) {
	level := slog.LevelInfo
	if err != nil {
		p, _ := describe(err)
		attributes = append(attributes, "kind", p.Kind)
		if p.Status >= http.StatusInternalServerError {
			level = slog.LevelWarn
			attributes = append(attributes, "error", p.Detail)
			if cause := errors.Unwrap(fault.From(err)); cause != nil {
				attributes = append(attributes, "cause", cause.Error())
			}
		}
		if p.Kind == string(fault.Internal) {
			level = slog.LevelError
		}
	}
	s.Log.Log(context.Background(), level, message, attributes...)
}

// answered answers errors and panics, and hands them on to the log.
func (s *Server) answered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = panicked(p)
			}
			if err != nil {
				s.problem(err, c)
			}
		}()
		return next(c)
	}
}

// bounded gives the body a time to come in. An answer that does not wait for
// the rest of the body closes the connection; the rest is read after it, within
// bounds, since a sender that is cut off does not look for the answer.
func (s *Server) bounded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		request := c.Request()
		if request.ContentLength == 0 {
			return next(c)
		}
		control := http.NewResponseController(c.Response())
		_ = control.SetReadDeadline(time.Now().Add(s.Limits.BodyTime.Duration)) // tests' recorders have none
		body := &ending{ReadCloser: request.Body, end: func() { _ = control.SetReadDeadline(time.Time{}) }}
		request.Body = body
		c.Response().Before(func() {
			if !body.ended {
				c.Response().Header().Set(echo.HeaderConnection, "close")
			}
		})
		err := next(c)
		if !body.ended && request.Header.Get("Expect") == "" && control.Flush() == nil {
			_, _ = io.CopyN(io.Discard, body, limits.RefusedBody)
		}
		return err
	}
}

// ending tells when a body has been read to its end. A deadline that stayed
// would end the request's context while its function still works.
type ending struct {
	io.ReadCloser
	ended bool
	end   func()
}

func (e *ending) Read(into []byte) (int, error) {
	n, err := e.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) && !e.ended {
		e.ended = true
		e.end()
	}
	return n, err
}

// clip bounds a text from outside.
func clip(text string) string { return text[:min(len(text), limits.Quoted)] }
