package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/runhook/runhook/pkg/cli"
	"github.com/runhook/runhook/pkg/status"
)

// follow shows the run until it has ended, as anybody's
// `runhook status RUN --watch` does.
func (s site) follow(ctx context.Context, run string) error {
	return s.runhook(ctx, os.Stdout, "status", run, "--watch", "-o", "table")
}

// status asks where the run stands: the answer, and as it was printed.
func (s site) status(ctx context.Context, run string) (answer status.Status, text string, err error) {
	var out bytes.Buffer
	if err := s.runhook(ctx, &out, "status", run, "-o", "json"); err != nil {
		return answer, "", err
	}
	return answer, out.String(), json.Unmarshal(out.Bytes(), &answer)
}

// runhook runs a command line at the deployed runhook.
func (s site) runhook(ctx context.Context, out io.Writer, args ...string) error {
	args = append(args, "--server", s.url, "--token-file", tokenFile)
	if code := cli.Run(ctx, args, cli.System{Version: "demo", Getenv: os.Getenv, In: os.Stdin, Out: out, Err: os.Stderr}); code != 0 {
		return fmt.Errorf("runhook %s ended with exit code %d", args[0], code)
	}
	return nil
}
