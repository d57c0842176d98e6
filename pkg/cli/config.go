package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
)

// configFlag adds -c, whose default is RUNHOOK_CONFIG.
func configFlag(cmd *cobra.Command, sys System, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", sys.Getenv("RUNHOOK_CONFIG"), "the config file (default: RUNHOOK_CONFIG)")
}

// kubeconfigFlag adds the flag of what stands on a cluster itself.
func kubeconfigFlag(cmd *cobra.Command, kubeconfig *string) {
	cmd.Flags().StringVar(kubeconfig, "kubeconfig", "", "access to the cluster (default: the pod's ServiceAccount, else the default kubeconfig)")
}

// readConfig reads a config that there must be; without getenv, without its
// secrets.
func readConfig(file string, getenv func(string) string) (*config.Config, error) {
	if file == "" {
		return nil, usage{fault.New(fault.Invalid, "say which config: -c FILE, or RUNHOOK_CONFIG")}
	}
	return config.Load(file, getenv)
}

// loadConfig reads a config, its secrets and its hooks, so that all that can
// be wrong is told before anything is done.
func loadConfig(file string, sys System) (*config.Config, *functions.Table, error) {
	return compileConfig(file, sys.Getenv)
}

// compileConfig is loadConfig; without getenv, without the secrets.
func compileConfig(file string, getenv func(string) string) (*config.Config, *functions.Table, error) {
	c, err := readConfig(file, getenv)
	if err != nil {
		return nil, nil, err
	}
	table, err := functions.New(c, nil)
	if err != nil {
		return nil, nil, err
	}
	return c, table, nil
}

func checkCommand(sys System) *cobra.Command {
	var file string
	var withoutSecrets bool
	cmd := &cobra.Command{
		Use:   "check -c CONFIG",
		Short: "Say whether a config is right, and every mistake with its line",
		RunE: func(cmd *cobra.Command, _ []string) error {
			getenv, but := sys.Getenv, ""
			if withoutSecrets {
				getenv, but = nil, "; no secret was looked up"
			}
			c, _, err := compileConfig(file, getenv)
			if err != nil {
				return err
			}
			if !withoutSecrets { // a sink begins with its key
				if _, err := sinksOf(c); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the config is right: "+contents(c)+but)
			return err
		},
	}
	configFlag(cmd, sys, &file)
	cmd.Flags().BoolVar(&withoutSecrets, "without-secrets", false, "look no secret up: the config alone is checked")
	return cmd
}

// contents says how much a config holds: who checks another file than they
// think sees it by that.
func contents(c *config.Config) string {
	routes := 0
	for _, h := range c.Hooks {
		routes += len(h.Routes)
	}
	return count(len(c.Hooks), "hook") + ", " + count(routes, "route") + ", " + count(len(c.Sinks), "sink")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
