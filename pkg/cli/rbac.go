package cli

import (
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/rbac"
	"github.com/runhook/runhook/pkg/watch"
)

func rbacCommand(sys System) *cobra.Command {
	var file string
	var ofWatch bool
	account := rbac.Account{}
	cmd := &cobra.Command{
		Use:   "rbac -c CONFIG",
		Short: "Print the Roles that the functions need, or the watch, and no more",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Where manifests are made, the secrets are not: hooks cannot be
			// compiled, and need no rights of their own.
			c, err := readConfig(file, nil)
			if err != nil {
				return err
			}
			c.Hooks = nil
			table, err := functions.New(c, nil)
			if err != nil {
				return err
			}
			access := table.Access()
			if ofWatch {
				access = watch.Access()
			}
			if account.Name == "" {
				account.Name = map[bool]string{false: "runhook", true: "runhook-watch"}[ofWatch]
			}
			text, err := rbac.YAML(access, account, c.Namespace)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	configFlag(cmd, sys, &file)
	cmd.Flags().BoolVar(&ofWatch, "watch", false, "those of the watch")
	cmd.Flags().StringVar(&account.Name, "account", "", "the ServiceAccount's name (default: runhook, or runhook-watch)")
	cmd.Flags().StringVar(&account.Namespace, "account-namespace", "runhook-system", "the ServiceAccount's namespace")
	return cmd
}
