package server

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
)

// call answers /functions/:name. Who calls, whether they may and how often
// they do is settled before the body is read.
func (s *Server) call(c echo.Context) error {
	start, name := time.Now(), c.Param("name")
	err := s.answer(c, name)
	status := c.Response().Status
	if err != nil {
		refused, _ := describe(err)
		status = refused.Status
	}
	s.Metrics.Request(name, status, time.Since(start))
	return err
}

func (s *Server) answer(c echo.Context, name string) error {
	request := c.Request()
	caller, err := s.Callers.Caller(request.Context(), request.Header, auth.Address(request.RemoteAddr))
	if err != nil {
		return err
	}
	c.Set(callerKey, caller.Name)
	f, ok := s.Functions.Find(name)
	if !ok {
		return fault.New(fault.NotFound, "there is no such function")
	}
	if !caller.MayCall(name) {
		return fault.New(fault.Forbidden, "%s may not call %s", caller.Name, name)
	}
	if err := s.callerRates.Take(caller.Name); err != nil {
		return err
	}
	if request.Method == http.MethodGet && !f.Reads {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
		return echo.ErrMethodNotAllowed
	}
	call, err := s.read(request, f)
	if err != nil {
		return err
	}
	call.Caller, call.Text, call.Stopping = caller, wantsText(request.Header), s.streams.Done()
	response, err := s.invoke(request.Context(), f, call)
	if err != nil {
		return err
	}
	s.count(name, response)
	return s.respond(c, response)
}

// read makes a call of a request.
func (s *Server) read(request *http.Request, f function.Function) (function.Call, error) {
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return function.Call{}, fault.Wrap(fault.Malformed, err, "the query of the address does not decode")
	}
	if request.Method == http.MethodGet {
		body, err := queryJSON(query, f.Request)
		return function.Call{Body: body}, err
	}
	call := function.Call{}
	if call.DryRun, err = dryRun(query); err != nil {
		return function.Call{}, err
	}
	if call.Key, err = idempotencyKey(request.Header); err != nil {
		return function.Call{}, err
	}
	if err := checkHead(request.Header); err != nil {
		return function.Call{}, err
	}
	body, err := hook.ReadBody(request.Body, request.ContentLength, s.Limits.FunctionBody.Value())
	if err != nil {
		return function.Call{}, err
	}
	call.Body, err = data(request.Header, body)
	return call, err
}

// dryRun reads the one parameter that a POST may have.
func dryRun(query url.Values) (bool, error) {
	var wrong fault.List
	for key := range query {
		if key != "dryRun" {
			wrong.Add(clip(key), "unknown parameter; a POST takes dryRun only")
		}
	}
	values := query["dryRun"]
	if len(values) > 1 || len(values) == 1 && values[0] != "true" && values[0] != "false" {
		wrong.Add("dryRun", "true or false is asked for")
	}
	return len(values) == 1 && values[0] == "true", wrong.Err(fault.Invalid, "the query of the address is not right")
}

func idempotencyKey(header http.Header) (string, error) {
	values := header.Values("Idempotency-Key")
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || values[0] == "" || len(values[0]) > limits.KeyBytes:
		return "", fault.New(fault.Invalid, "the header Idempotency-Key must be one text of at most %d bytes", limits.KeyBytes)
	}
	return values[0], nil
}

// respond writes a response. The reader has a bounded time to take it.
func (s *Server) respond(c echo.Context, response function.Response) error {
	if response.Status == 0 {
		response.Status = http.StatusOK
	}
	if response.Stream != nil {
		return s.stream(c, response)
	}
	s.setWriteDeadline(c)
	setRetryAfter(c, response.Status, response.RetryAfter)
	return c.JSON(response.Status, response.Body)
}

func (s *Server) stream(c echo.Context, response function.Response) error {
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	err := response.Stream(ctx, &flusher{s, c, response.Status})
	if err == nil && !c.Response().Committed {
		_, err = (&flusher{s, c, response.Status}).Write(nil)
	}
	return err // after the first write it is only logged
}

// flusher sends each write at once.
type flusher struct {
	s      *Server
	c      echo.Context
	status int
}

var _ io.Writer = (*flusher)(nil)

func (f *flusher) Write(text []byte) (int, error) {
	f.s.setWriteDeadline(f.c)
	out := f.c.Response()
	if !out.Committed {
		if out.Header().Get(echo.HeaderContentType) == "" {
			out.Header().Set(echo.HeaderContentType, echo.MIMETextPlainCharsetUTF8)
		}
		out.WriteHeader(f.status)
	}
	n, err := out.Write(text)
	if err != nil {
		return n, err
	}
	return n, http.NewResponseController(out).Flush()
}
