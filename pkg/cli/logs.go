package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func logsCommand(sys System) *cobra.Command {
	var t target
	var worker int
	var tail int64
	var follow bool
	var form output
	cmd := &cobra.Command{
		Use:               "logs RUN TASK [--worker N] [--tail N] [--follow]",
		Short:             summary("logs"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	t.flags(cmd, sys)
	f := cmd.Flags()
	f.IntVar(&worker, "worker", 0, "one worker of a split task (default: all)")
	f.Int64Var(&tail, "tail", 0, "only the last lines of each log (default: all)")
	f.BoolVar(&follow, "follow", false, "go on with what is printed from now on")
	f.VarP(&form, "output", "o", "json or yaml (default: the text)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := map[string]any{"run": args[0], "task": args[1]}
		if f.Changed("worker") {
			request["worker"] = worker
		}
		if f.Changed("tail") {
			request["tail"] = tail
		}
		if follow {
			request["follow"] = true
		}
		if follow && form != "" {
			return usage{errors.New("--follow gives text: without -o")}
		}
		on, err := t.reach(sys)
		if err != nil {
			return err
		}
		asked := call{name: "logs", request: request}
		if form == "" {
			asked.text = cmd.OutOrStdout()
		}
		answer, err := on.do(cmd.Context(), asked)
		if err != nil || answer == nil {
			return err
		}
		return form.write(cmd.OutOrStdout(), answer)
	}
	return cmd
}
