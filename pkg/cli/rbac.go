package cli

import (
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/rbac"
)

func rbacCommand(sys System) *cobra.Command {
	var file string
	account := rbac.Account{}
	cmd := &cobra.Command{
		Use:   "rbac -c CONFIG",
		Short: "Print the Roles that the functions need, and no more",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Where manifests are made, the secrets are not: hooks cannot be
			// compiled, and need no rights of their own.
			c, err := config.Load(file, nil)
			if err != nil {
				return err
			}
			c.Hooks = nil
			table, err := functions.New(c, nil)
			if err != nil {
				return err
			}
			text, err := rbac.YAML(table.Access(), account, c.Namespace)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	configFlag(cmd, sys, &file)
	cmd.Flags().StringVar(&account.Name, "account", "runhook", "the ServiceAccount's name")
	cmd.Flags().StringVar(&account.Namespace, "account-namespace", "runhook-system", "the ServiceAccount's namespace")
	return cmd
}
