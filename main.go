// Command runhook serves small functions on a cluster of Argo Workflows, Kueue
// and BuildKit, and calls them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/runhook/runhook/pkg/cli"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], cli.System{
		Version: version,
		Getenv:  os.Getenv,
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
	})
	stop()
	os.Exit(code)
}
