package cli

import (
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/run"
)

func renderCommand(sys System) *cobra.Command {
	var file, configFile string
	var format output
	cmd := &cobra.Command{
		Use:   "render -f RUN",
		Short: "Print the Workflow of a run, without a cluster",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := config.Default()
			if configFile != "" {
				// A run needs no secret of the config: it can be looked at where there are none.
				loaded, err := readConfig(configFile, nil)
				if err != nil {
					return err
				}
				c = *loaded
			}
			asked, err := readRun(file, sys)
			if err != nil {
				return err
			}
			policy := functions.Policy(&c)
			if err := asked.Check(policy); err != nil {
				return err
			}
			if asked.ID == "" {
				key, err := run.Key(asked)
				if err != nil {
					return err
				}
				asked.ID = run.NameOfKey(key)
			}
			workflow, err := argo.Render(asked.Fill(policy), functions.Options(&c))
			if err != nil {
				return err
			}
			return format.write(cmd.OutOrStdout(), workflow)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the run, as YAML or JSON; - for standard input")
	configFlag(cmd, sys, &configFile)
	format.flag(cmd, "yaml")
	must(cmd.MarkFlagRequired("file"))
	return cmd
}

// readRun reads a run strictly: unknown keys are told with their line.
func readRun(file string, sys System) (*run.Run, error) {
	document, err := readDocument(file, sys)
	if err != nil {
		return nil, err
	}
	asked := &run.Run{}
	return asked, document.Decode(asked)
}
