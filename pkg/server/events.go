package server

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/owner"
)

// events answers GET /events: state changes as server-sent events, of the runs
// that the caller may see.
func (s *Server) events(c echo.Context) error {
	request := c.Request()
	caller, err := s.Callers.Caller(request.Context(), request.Header, auth.Address(request.RemoteAddr))
	if err != nil {
		return err
	}
	c.Set(callerKey, caller.Name)
	if !caller.MayCall(config.EventsRight) {
		return fault.New(fault.Forbidden, "%s may not read the events", caller.Name)
	}
	if err := s.callerRates.Take(caller.Name); err != nil {
		return err
	}
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return fault.Wrap(fault.Malformed, err, "the query of the address does not decode")
	}
	filter, err := stream.ReadFilter(query)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(request.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set(echo.HeaderCacheControl, "no-store")
	return s.Events.Follow(ctx, &flusher{s, c, http.StatusOK}, request.Header.Get("Last-Event-ID"), filter, func(i stream.Item) bool {
		return owner.MaySee(caller, i.Run, s.Foreign)
	})
}
