package command

import (
	"context"
	"os/exec"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/version"
)

// argoTime is how long the argo program may take to say its version.
const argoTime = 30 * time.Second

// runner runs a program and gives what it printed.
type runner func(ctx context.Context, name string, args ...string) ([]byte, error)

func runProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, name, args...).Output()
}

// argoVersion asks the argo program for its version; without one it is Argo 3.
func argoVersion(ctx context.Context, name string, run runner) (text string, major int, err error) {
	if name == "" {
		return "3", 3, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, argoTime)
	defer cancel()
	output, err := run(ctx, name, "version", "--short")
	if err != nil {
		return "", 0, fault.Wrap(fault.Invalid, err, "--argo-binary: `%s version --short` did not run: %v", name, err)
	}
	if text, err = version.ArgoOutput(output); err == nil {
		major, err = version.ArgoMajor(text)
	}
	if err != nil {
		return "", 0, fault.Wrap(fault.Invalid, err, "--argo-binary: %v", err)
	}
	return text, major, nil
}
