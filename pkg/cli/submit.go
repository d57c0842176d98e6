package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

func submitCommand(sys System) *cobra.Command {
	var t target
	var until waiting
	var out format
	var file string
	submit := call{name: "submit"}
	cmd := &cobra.Command{
		Use:               "submit -f RUN [--wait]",
		Short:             summary("submit"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	t.flags(cmd, sys)
	until.flags(cmd)
	out.flag(cmd)
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "the run, as YAML or JSON; - for standard input")
	f.StringVar(&submit.key, "key", "", "the idempotency key (default: the hash of the run)")
	f.BoolVar(&submit.dryRun, "dry-run", false, "let the API server check the run, and create nothing")
	must(cmd.MarkFlagRequired("file"))
	cmd.MarkFlagsMutuallyExclusive("dry-run", "wait")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		document, err := readDocument(file, sys)
		if err != nil {
			return err
		}
		// Here mistakes have lines; elsewhere they have paths only.
		if err := document.Decode(&run.Run{}); err != nil {
			return err
		}
		submit.request = document.JSON()
		on, err := t.reach(sys)
		if err != nil {
			return err
		}
		answer, err := on.do(cmd.Context(), submit)
		if err != nil {
			return err
		}
		if !until.wait {
			return out.show(cmd.OutOrStdout(), answer, one("run", "created", "phase"))
		}
		return until.runOf(cmd, on, answer, out)
	}
	return cmd
}

// runOf waits for the run that an answer names. The answer itself is told
// beside the output, which holds the run's end.
func (o *waiting) runOf(cmd *cobra.Command, on caller, answer []byte, out format) error {
	var made struct {
		Run     string       `json:"run"`
		Created *bool        `json:"created"`
		Phase   status.Phase `json:"phase"`
	}
	if err := decodeAnswer(answer, &made); err != nil {
		return err
	}
	if made.Run == "" {
		return usage{fmt.Errorf("--wait: the answer names nothing that goes on: %s", answer)}
	}
	if made.Created != nil && !*made.Created {
		// Its end may be an hour old, and is not that of what was asked for now.
		fmt.Fprintf(cmd.ErrOrStderr(), "run %s was there already (%s)\n", oneLine(made.Run), oneLine(cmp.Or(string(made.Phase), "phase not told")))
	}
	if !made.Phase.Ended() {
		fmt.Fprintf(cmd.ErrOrStderr(), "waiting for run %s\n", oneLine(made.Run))
	}
	return o.run(cmd, on, made.Run, false, out)
}
