package cli

import (
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/rbac"
)

func rbacCommand() *cobra.Command {
	var namespace string
	account := rbac.Account{}
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Print the Roles that the functions need, and no more",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := rbac.YAML(functions.Access(), account, namespace)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&namespace, "namespace", "runs", "the namespace of the runs")
	cmd.Flags().StringVar(&account.Name, "account", "runhook", "the ServiceAccount's name")
	cmd.Flags().StringVar(&account.Namespace, "account-namespace", "runhook-system", "the ServiceAccount's namespace")
	return cmd
}
