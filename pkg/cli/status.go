package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/status"
)

func statusCommand(sys System) *cobra.Command {
	var t target
	var from offline
	var until waiting
	var watch bool
	var out format
	cmd := &cobra.Command{
		Use:               "status RUN [--watch] [--wait] | status -f WORKFLOW [--pods PODS]... [--run RUN]",
		Short:             summary("status"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	t.flags(cmd, sys)
	from.flags(cmd)
	until.flags(cmd)
	out.flag(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "show each change until the run has ended")
	for _, flag := range []string{"watch", "wait", "timeout"} {
		cmd.MarkFlagsMutuallyExclusive("file", flag)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from.file != "" {
			if len(args) > 0 {
				return usage{errors.New("a run of a file is named with --run")}
			}
			return statusOfFile(cmd, &from, out, sys)
		}
		if len(args) == 0 || from.run != "" || len(from.pods) > 0 {
			return usage{errors.New("name a run, or a file with -f; --run and --pods go with a file")}
		}
		on, err := t.reach(sys)
		if err != nil {
			return err
		}
		if watch || until.wait {
			return until.run(cmd, on, args[0], watch, out)
		}
		answer, err := on.do(cmd.Context(), call{name: "status", request: map[string]any{"run": args[0]}})
		if err != nil {
			return err
		}
		return out.show(cmd.OutOrStdout(), answer, statusTable)
	}
	return cmd
}

// statusOfFile says the same of recorded objects.
func statusOfFile(cmd *cobra.Command, from *offline, out format, sys System) error {
	run, err := from.read(sys)
	if err != nil {
		return err
	}
	answer, err := json.Marshal(status.Of(run.workflow, run.helpers, slices.Concat(run.moments...)))
	if err != nil {
		return err
	}
	return out.show(cmd.OutOrStdout(), answer, statusTable)
}

// run waits until a run has ended, and shows each change or the end only.
func (o *waiting) run(cmd *cobra.Command, on caller, run string, watch bool, out format) error {
	drawn := drawer{w: cmd.OutOrStdout(), format: out, table: statusTable}
	show := func(json.RawMessage) error { return nil }
	if watch {
		show = drawn.draw
	}
	return o.within(cmd.Context(), "the run "+run, func(ctx context.Context) error {
		phase, last, err := follow(ctx, on, run, show)
		if err != nil {
			return err
		}
		if err := drawn.draw(last); err != nil || !o.wait {
			return err
		}
		return endOf(string(phase))
	})
}
