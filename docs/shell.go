package docs

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Shell runs blocks as a shell would, one after another in one session. It
// knows the commands that it is given and no other, so that a page cannot show
// one that nobody tries. It writes no file.
type Shell struct{ runner *interp.Runner }

// NewShell makes a shell that stands in a folder. Commands are by their names.
func NewShell(dir string, environment []string, out io.Writer, commands map[string]interp.ExecHandlerFunc) (*Shell, error) {
	known := func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
		return func(ctx context.Context, args []string) error {
			command, ok := commands[args[0]]
			if !ok {
				return fmt.Errorf("no test knows the command %q of %q", args[0], strings.Join(args, " "))
			}
			return command(ctx, args)
		}
	}
	reading := interp.DefaultOpenHandler()
	runner, err := interp.New(
		interp.Dir(dir),
		interp.Env(expand.ListEnviron(environment...)),
		interp.StdIO(nil, out, out),
		interp.Params("-e"),
		interp.ExecHandlers(known),
		interp.OpenHandler(func(ctx context.Context, path string, flag int, mode os.FileMode) (io.ReadWriteCloser, error) {
			if flag&(os.O_WRONLY|os.O_RDWR) != 0 && path != os.DevNull {
				return nothing{}, nil
			}
			return reading(ctx, path, flag, mode)
		}),
	)
	return &Shell{runner}, err
}

// Run runs a block; the error says which command did not do.
func (s *Shell) Run(ctx context.Context, b Block) error {
	script, err := syntax.NewParser().Parse(strings.NewReader(b.Text), b.Page)
	if err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	if err := s.runner.Run(ctx, script); err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	return nil
}

// nothing takes what a block would write into a file.
type nothing struct{}

func (nothing) Read([]byte) (int, error)    { return 0, io.EOF }
func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }
