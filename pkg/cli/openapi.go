package cli

import (
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/openapi"
)

func openapiCommand(sys System) *cobra.Command {
	var format output
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI 3.1 document of the functions, as GET /openapi.json gives it",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := config.Default()
			table, err := functions.New(&c, nil)
			if err != nil {
				return err
			}
			return format.write(cmd.OutOrStdout(), openapi.New(table.All(), sys.Version, nil))
		},
	}
	format.flag(cmd, "json")
	return cmd
}
