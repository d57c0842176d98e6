package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/openapi"
	"github.com/runhook/runhook/pkg/server"
	"github.com/runhook/runhook/pkg/watch"
)

func watchCommand(sys System) *cobra.Command {
	var file, kubeconfig string
	cmd := &cobra.Command{
		Use:   "watch -c CONFIG",
		Short: "Watch the runs until SIGTERM: keep the proofs of interruptions, send events, show metrics",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runWatch(cmd.Context(), file, kubeconfig, sys)
		},
	}
	configFlag(cmd, sys, &file)
	kubeconfigFlag(cmd, &kubeconfig)
	return cmd
}

func runWatch(ctx context.Context, file, kubeconfig string, sys System) error {
	c, _, err := loadConfig(file, sys)
	if err != nil {
		return err
	}
	userAgent := "runhook-watch/" + sys.Version
	access, err := cluster.Config(kubeconfig, userAgent)
	if err != nil {
		return err
	}
	on, err := cluster.Connect(kubeconfig, c.Namespace, userAgent)
	if err != nil {
		return err
	}
	clients, err := watch.Connect(access, c.Namespace)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(sys.Err, nil))
	klog.SetSlogLogger(log) // client-go's own words
	if _, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, on.Ready(ctx) },
		backoff.WithMaxElapsedTime(firstContact)); err != nil {
		return err
	}
	// Metrics and stream ask the watch, which tells them.
	var w *watch.Watch
	served := metrics.New(sys.Version, nil, nil)
	counted := metrics.NewWatch(served, event.Types(), func() []metrics.RunState { return w.States() })
	shown := stream.New(func() []stream.Item { return w.Present() })
	sinks, flush, err := startSinks(c, counted, log)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	// A container that starts again has the Lease at once: its pod's name and
	// its process id are the same. Two processes of one machine differ.
	identity := fmt.Sprintf("%s_%d", host, os.Getpid())
	w, err = watch.New(watch.Options{
		Clients: clients, Annotator: on, Nodes: on, Helping: extra.New(on, functions.Options(c).Priorities, time.Now), Shutdown: on,
		Leases: on, OnceKeep: c.Limits.OnceKeep.Duration, Identity: identity, Source: event.Source(c.PublicURL, c.Namespace),
		Foreign: c.Cluster.Foreign, Capacity: functions.Capacity(c), Sinks: sinks, Stream: shown, Metrics: counted, Log: log,
	})
	if err != nil {
		return err
	}
	// The informers outlive the signal: what is looked at is looked at to its end.
	informers, stop := context.WithCancel(context.Background())
	defer stop()
	if err := w.Start(ctx, informers); err != nil {
		return err
	}
	options := server.Options{
		Listen: c.Listen, ListenMetrics: c.Metrics,
		Functions: noFunctions{}, Callers: auth.New(c.Auth, on, c.Limits), Metrics: served,
		OpenAPI: openapi.New(nil, sys.Version, nil), Limits: c.Limits, Log: log,
		Events: shown, Foreign: c.Cluster.Foreign,
	}
	if c.TLS != nil {
		options.Cert, options.Key = c.TLS.Cert, c.TLS.Key
	}
	// Either ends the other: a watch that nobody can ask after is not ready.
	ctx, end := context.WithCancel(ctx)
	defer end()
	watched := make(chan error, 1)
	go func() {
		defer end()
		watched <- w.Run(ctx, flush)
	}()
	err = server.New(options).Run(ctx)
	end()
	return errors.Join(err, <-watched)
}

// noFunctions is the table of a server without functions.
type noFunctions struct{}

func (noFunctions) Find(string) (function.Function, bool) { return function.Function{}, false }
