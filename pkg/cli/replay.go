package cli

import (
	"encoding/json"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/hook"
)

func replayCommand(sys System) *cobra.Command {
	var file, at string
	cmd := &cobra.Command{
		Use:   "replay REQUEST.http -c CONFIG",
		Short: "Say what a saved delivery would do, without doing it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			if at != "" {
				parsed, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return usage{err}
				}
				now = parsed
			}
			_, hooks, err := loadConfig(file, sys)
			if err != nil {
				return err
			}
			saved, err := os.Open(args[0])
			if err != nil {
				return usage{err}
			}
			defer saved.Close()
			answer := hook.Replay(saved, hooks, now)
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetIndent("", "  ")
			if err := out.Encode(answer); err != nil {
				return err
			}
			if answer.Status/100 != 2 {
				return exit(exitFailed)
			}
			return nil
		},
	}
	configFlag(cmd, sys, &file)
	cmd.Flags().StringVar(&at, "now", "", "the time to take for now, RFC 3339: signatures with a time grow old")
	return cmd
}
