package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"
)

func replayCommand(sys System) *cobra.Command {
	var file, at string
	cmd := &cobra.Command{
		Use:   "replay REQUEST.http -c CONFIG",
		Short: "Say what a saved delivery would do, without doing it",
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			if at != "" {
				parsed, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return usage{err}
				}
				now = parsed
			}
			c, table, err := loadConfig(file, sys)
			if err != nil {
				// 1 says that the delivery would be refused, and the output why.
				tell(sys.Err, err)
				return exit(exitUsage)
			}
			saved, err := os.Open(args[0])
			if err != nil {
				return usage{err}
			}
			defer saved.Close()
			report := table.Replayer(c).Replay(saved, now)
			if err := output("json").write(cmd.OutOrStdout(), report); err != nil {
				return err
			}
			if report.Status/100 != 2 {
				return exit(exitFailed)
			}
			return nil
		},
	}
	configFlag(cmd, sys, &file)
	cmd.Flags().StringVar(&at, "now", "", "the time to take for now, RFC 3339: signatures with a time grow old")
	return cmd
}
