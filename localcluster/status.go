package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
)

var errDown = errors.New("the cluster is down: run localcluster up")

func statusCommand() *cobra.Command {
	var format string
	command := &cobra.Command{
		Use: "status", Short: "Show every component with its process, memory and readiness", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := layout.Find()
			if err != nil {
				return err
			}
			set, err := os.ReadFile(home.Run(binariesFile))
			if err != nil || !machine.NamespaceExists(layout.Namespace) {
				return errDown
			}
			way, err := entry(home)
			if err != nil {
				return err
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			inside := way.Command(cmd.Context(), program, append([]string{"inspect", "--output", format}, place{home, binaries.Set{Dir: string(set)}, giteaOf(home)}.args()...)...)
			inside.Stdout, inside.Stderr = os.Stdout, os.Stderr
			return quiet(inside.Run())
		},
	}
	formatFlag(command, &format)
	return command
}

func formatFlag(command *cobra.Command, format *string) {
	command.Flags().StringVarP(format, "output", "o", "table", "table or json")
}

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use: "env", Short: "Print the shell's variables for using the cluster", Args: cobra.NoArgs,
		Long: `Print the shell's variables for using the cluster: eval "$(localcluster env)"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := layout.Find()
			if err != nil {
				return err
			}
			set, err := os.ReadFile(home.Run(binariesFile))
			if err != nil {
				return errDown
			}
			fmt.Fprint(cmd.OutOrStdout(), environment(home, string(set)))
			return nil
		},
	}
}

// environment is what a shell needs to use the cluster from the machine.
func environment(home layout.Home, tools string) string {
	var out strings.Builder
	export := func(name, value string) { fmt.Fprintf(&out, "export %s=%s\n", name, value) }
	export("KUBECONFIG", home.Kubeconfig())
	for _, f := range layout.Forwards {
		export(f.Variable, fmt.Sprintf(f.Format, f.Address()))
	}
	export("RUNHOOK_CLUSTER_REGISTRY", layout.Registry) // its name inside
	export("RUNHOOK_CLUSTER_STATE", home.State())
	export("PATH", tools+`:"$PATH"`)
	return out.String()
}
