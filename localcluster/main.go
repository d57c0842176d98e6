// Command localcluster builds and runs a real cluster on one plain Debian
// machine: Kubernetes with three nodes, Argo Workflows and Events, Kueue,
// BuildKit, a registry, Prometheus and Alertmanager.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := root().ExecuteContext(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "localcluster: interrupted: the same command again goes on from here")
	case err != nil && !errors.Is(err, errReported):
		fmt.Fprintln(os.Stderr, "localcluster:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

func root() *cobra.Command {
	command := &cobra.Command{
		Use: "localcluster", Short: "A real cluster on this machine",
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(upCommand(), downCommand(), statusCommand(), envCommand(),
		bootCommand(), inspectCommand(), forwardCommand(), registryCommand())
	return command
}
