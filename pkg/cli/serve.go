package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/openapi"
	"github.com/runhook/runhook/pkg/server"
)

// firstContact is how long a start waits for a cluster that cannot be reached:
// a wrong kubeconfig should end the process where Kubernetes shows it, and not
// serve 503 for ever. Later outages are ridden out.
const firstContact = 30 * time.Second

func serveCommand(sys System) *cobra.Command {
	var file, kubeconfig string
	cmd := &cobra.Command{
		Use:   "serve -c CONFIG",
		Short: "Serve hooks and functions over HTTP until SIGTERM",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), file, kubeconfig, sys)
		},
	}
	configFlag(cmd, sys, &file)
	kubeconfigFlag(cmd, &kubeconfig)
	return cmd
}

func serve(ctx context.Context, file, kubeconfig string, sys System) error {
	// Once without a cluster: a config that is wrong is told before anything else.
	c, _, err := loadConfig(file, sys)
	if err != nil {
		return err
	}
	on, err := cluster.Connect(kubeconfig, c.Namespace, "runhook/"+sys.Version)
	if err != nil {
		return err
	}
	table, err := functions.New(c, on)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(sys.Err, nil))
	if _, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, on.Ready(ctx) },
		backoff.WithMaxElapsedTime(firstContact)); err != nil {
		return err
	}
	options := server.Options{
		Listen: c.Listen, ListenMetrics: c.Metrics,
		Functions: table, Hooks: table.Hooks(),
		Callers: auth.New(c.Auth, on, c.Limits),
		Metrics: metrics.New(sys.Version, table.Names(), slices.Sorted(maps.Keys(hook.Providers))),
		OpenAPI: openapi.New(table.All(), sys.Version, nil),
		Limits:  c.Limits,
		Log:     log,
	}
	if c.TLS != nil {
		options.Cert, options.Key = c.TLS.Cert, c.TLS.Key
	}
	return server.New(options).Run(ctx)
}
