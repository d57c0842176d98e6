// Package cli is the command line: it serves, calls functions, and runs the
// same pure rules on files without a cluster.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/command"
)

// System is what a command line has of the machine.
type System struct {
	Version  string
	Getenv   func(string) string
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes. 1 is a refusal or a failure, 2 a wrong call.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	// exitInterrupted is a shell's own code for a program that Ctrl-C has ended.
	exitInterrupted = 130
)

// exit ends the program with a code, without a word where the output has said it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run runs one command line and gives its exit code.
func Run(ctx context.Context, args []string, sys System) int {
	root := &cobra.Command{
		Use:           "runhook",
		Short:         "Small functions on a cluster of Argo Workflows, Kueue and BuildKit",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       sys.Version,
	}
	root.SetArgs(args)
	root.SetIn(sys.In)
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	root.AddCommand(
		serveCommand(sys), watchCommand(sys), checkCommand(sys), causeCommand(sys), renderCommand(sys), replayCommand(sys), rbacCommand(sys), openapiCommand(sys),
		submitCommand(sys), statusCommand(sys), logsCommand(sys), nodesCommand(sys), buildImageCommand(sys), callCommand(sys),
		command.Normalize(), command.Generate(&generate{sys: sys}),
	)
	for _, f := range faces {
		root.AddCommand(f.command(sys))
	}
	takeAsUsed(root.Commands())
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	var code exit
	if !errors.As(err, &code) || err != error(code) {
		tell(sys.Err, err)
	}
	if code != 0 {
		return int(code)
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return exitFailed
	}
	return exitUsage
}

// usage is a command line that cannot be understood.
type usage struct{ error }

// tell writes an error for a person: every mistake on a line of its own.
func tell(w io.Writer, err error) {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Problems) == 0 {
		fmt.Fprintln(w, "runhook:", err)
		return
	}
	fmt.Fprintf(w, "runhook: %s:\n", f.Detail)
	for _, p := range f.Problems {
		fmt.Fprintln(w, " ", p)
	}
}
