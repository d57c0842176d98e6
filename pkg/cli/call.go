package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/image"
)

// callCommand calls any function.
func callCommand(sys System) *cobra.Command {
	cmd := fileCommand(sys, func(args []string) string { return args[0] }, asYAML)
	cmd.Use = "call FUNCTION [-f REQUEST] [--wait]"
	cmd.Short = "Call a function with a request from a file"
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return known().Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func buildImageCommand(sys System) *cobra.Command {
	cmd := fileCommand(sys, func([]string) string { return "build-image" }, buildTable)
	cmd.Use = "build-image -f REQUEST [--wait]"
	cmd.Short = summary("build-image")
	must(cmd.MarkFlagRequired("file"))
	return cmd
}

// asYAML is for answers that nobody has made a table for.
func asYAML(w io.Writer, answer json.RawMessage) error { return output("yaml").write(w, answer) }

// buildTable shows how far a build is, and why it failed.
func buildTable(w io.Writer, answer json.RawMessage) error {
	if err := one("build", "ref", "phase", "digest")(w, answer); err != nil {
		return err
	}
	var build struct {
		Message string `json:"message"`
		Log     string `json:"log"`
	}
	if err := decodeAnswer(answer, &build); err != nil {
		return err
	}
	if build.Message != "" {
		fmt.Fprintf(w, "\n%s\n", oneLine(build.Message))
	}
	if build.Log != "" {
		fmt.Fprintf(w, "\n%s\n", build.Log)
	}
	return nil
}

// fileCommand makes a command whose request is a file.
func fileCommand(sys System, name func(args []string) string, t table) *cobra.Command {
	var to target
	var until waiting
	var file string
	var out format
	cmd := &cobra.Command{}
	to.flags(cmd, sys)
	until.flags(cmd)
	out.flag(cmd)
	cmd.Flags().StringVarP(&file, "file", "f", "", "the request, as YAML or JSON; - for standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		call := call{name: name(args), request: struct{}{}}
		if file != "" {
			document, err := readDocument(file, sys)
			if err != nil {
				return err
			}
			call.request = document.JSON()
		}
		on, err := to.reach(sys)
		if err != nil {
			return err
		}
		answer, err := on.do(cmd.Context(), call)
		if err != nil {
			return err
		}
		if until.wait && call.name != "build-image" {
			return until.runOf(cmd, on, answer, out)
		}
		if until.wait {
			if answer, err = until.build(cmd.Context(), on, call, answer); err != nil {
				return err
			}
		}
		if err := out.show(cmd.OutOrStdout(), answer, t); err != nil || !until.wait {
			return err
		}
		return endOf(string(phaseOf(answer)))
	}
	return cmd
}

// build asks again how far a build is, until it has ended: the same request
// does not build again.
func (o *waiting) build(ctx context.Context, on caller, again call, answer json.RawMessage) (json.RawMessage, error) {
	err := o.within(ctx, "the build", func(ctx context.Context) error {
		for !phaseOf(answer).Ended() {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(againEvery):
			}
			latest, err := patiently(ctx, false, func() (json.RawMessage, error) { return on.do(ctx, again) })
			if err != nil {
				return err
			}
			answer = latest
		}
		return nil
	})
	return answer, err
}

func phaseOf(answer json.RawMessage) image.Phase {
	var build struct {
		Phase image.Phase `json:"phase"`
	}
	_ = json.Unmarshal(answer, &build) // without a phase it goes on
	return build.Phase
}
