// Package server is the HTTP side of runhook: it bounds requests, tells who
// calls, and hands calls to functions and deliveries to hooks. Neither knows
// of HTTP.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
)

// Functions finds a function by its name.
type Functions interface {
	Find(name string) (function.Function, bool)
}

// Callers tells who calls; the address is the connection's.
type Callers interface {
	Caller(ctx context.Context, header http.Header, address string) (function.Caller, error)
}

// Options are what a server is made of. All are needed but Cert, Key and Events.
type Options struct {
	// Listen is the address of hooks and functions, ListenMetrics that of /metrics.
	Listen, ListenMetrics string
	// Cert and Key are files in PEM; without them it is plain HTTP.
	Cert, Key string
	Functions Functions
	// Hooks are by their path.
	Hooks   map[string]*hook.Hook
	Callers Callers
	Metrics *metrics.Metrics
	// OpenAPI is the document about the functions, which anybody may read.
	OpenAPI any
	Limits  limits.Set
	Log     *slog.Logger
	// Events are what GET /events shows; nil where there is no watch. Foreign
	// says who may see those of others' Workflows.
	Events  *stream.Stream
	Foreign owner.Foreign
}

// Server serves until its context ends.
type Server struct {
	Options
	callerRates, hookRates, addressRates *auth.Rates

	public, internal   net.Listener
	stopping           atomic.Bool
	streams            context.Context // ends when the server is asked to stop
	endStreams         context.CancelFunc
	publicHTTP, metric *http.Server
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	s := &Server{
		Options:      o,
		callerRates:  auth.NewRates(o.Limits.CallerRate, o.Limits.CallerBurst),
		hookRates:    auth.NewRates(o.Limits.HookRate, o.Limits.HookBurst),
		addressRates: auth.NewRates(o.Limits.AddressRate, o.Limits.AddressBurst),
	}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.publicHTTP = s.httpServer(s.routes())
	internal := http.NewServeMux()
	internal.Handle("GET /metrics", o.Metrics.Handler())
	s.metric = s.httpServer(internal)
	s.metric.ReadTimeout = o.Limits.BodyTime.Duration
	return s
}

// slack is what net/http reads beyond MaxHeaderBytes before it answers 431.
const slack = 4096

func (s *Server) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		MaxHeaderBytes:    int(s.Limits.Head.Value()) - slack,
		ReadHeaderTimeout: s.Limits.HeadTime.Duration,
		IdleTimeout:       limits.IdleTime,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
}

// Listen takes the addresses; Run does it when it was not done.
func (s *Server) Listen() error {
	public, err := net.Listen("tcp", s.Options.Listen)
	if err != nil {
		return err
	}
	internal, err := net.Listen("tcp", s.ListenMetrics)
	if err != nil {
		return errors.Join(err, public.Close())
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return errors.Join(err, public.Close(), internal.Close())
		}
		s.publicHTTP.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	s.public, s.internal = public, internal
	return nil
}

// Addr is where hooks and functions are served, after Listen.
func (s *Server) Addr() net.Addr { return s.public.Addr() }

// MetricsAddr is where metrics are served, after Listen.
func (s *Server) MetricsAddr() net.Addr { return s.internal.Addr() }

// Run serves until the context ends. Then /readyz answers 503 while new
// requests are still taken, so that none is lost before the load balancers
// know; after that no connection is accepted, and requests under way are
// answered.
func (s *Server) Run(ctx context.Context) error {
	if s.public == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	failed := make(chan error, 2)
	go func() { failed <- s.metric.Serve(s.internal) }()
	go func() {
		if s.publicHTTP.TLSConfig != nil {
			failed <- s.publicHTTP.ServeTLS(s.public, "", "")
		} else {
			failed <- s.publicHTTP.Serve(s.public)
		}
	}()
	s.Log.Info("serving", "address", s.Addr().String(), "metrics", s.MetricsAddr().String())
	select {
	case err := <-failed:
		return errors.Join(err, s.publicHTTP.Close(), s.metric.Close())
	case <-ctx.Done():
	}
	return s.stop()
}

func (s *Server) stop() error {
	s.stopping.Store(true)
	s.Log.Info("stopping")
	time.Sleep(s.Limits.DrainTime.Duration)
	s.endStreams()
	ctx, cancel := context.WithTimeout(context.Background(), s.Limits.ShutdownTime.Duration)
	defer cancel()
	if err := s.publicHTTP.Shutdown(ctx); err != nil {
		s.Log.Warn("requests under way were cut off", "after", s.Limits.ShutdownTime.Duration.String())
		return errors.Join(s.publicHTTP.Close(), s.metric.Close())
	}
	return s.metric.Shutdown(ctx)
}

// routes says what is served where. What is around the handlers is around
// addresses that do not exist, too: a body can be slow at any of them.
func (s *Server) routes() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.problem
	e.Use(s.logged, s.bounded, s.answered)
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", s.ready)
	e.GET("/openapi.json", func(c echo.Context) error { return c.JSON(http.StatusOK, s.OpenAPI) })
	e.POST(functionRoute, s.call)
	e.GET(functionRoute, s.call)
	e.POST("/hooks/:path", s.deliver)
	if s.Events != nil {
		e.GET("/events", s.events)
	}
	return e
}

func (s *Server) ready(c echo.Context) error {
	if s.stopping.Load() {
		return c.String(http.StatusServiceUnavailable, "stopping\n")
	}
	return c.String(http.StatusOK, "ok\n")
}
