package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/config"
)

func nodesCommand(sys System) *cobra.Command {
	var t target
	var nodes, pods string
	var out format
	cmd := &cobra.Command{
		Use:               "nodes | nodes -f NODES --pods PODS",
		Short:             summary("nodes"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	t.flags(cmd, sys)
	out.flag(cmd)
	cmd.Flags().StringVarP(&nodes, "file", "f", "", "the nodes as kubectl's JSON list, instead of a cluster")
	cmd.Flags().StringVar(&pods, "pods", "", "the pods of all namespaces as kubectl's JSON list")
	cmd.MarkFlagsRequiredTogether("file", "pods")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		answer, err := t.nodes(cmd, sys, nodes, pods)
		if err != nil {
			return err
		}
		return out.show(cmd.OutOrStdout(), answer, list("nodes", "name", "cores", "memoryGiB", "free.cores", "free.memoryGiB", "reservedFor"))
	}
	return cmd
}

func (t *target) nodes(cmd *cobra.Command, sys System, nodes, pods string) (json.RawMessage, error) {
	if nodes == "" {
		on, err := t.reach(sys)
		if err != nil {
			return nil, err
		}
		return on.do(cmd.Context(), call{name: "nodes", request: struct{}{}})
	}
	c := config.Default()
	if t.config != "" {
		loaded, err := config.Load(t.config, sys.Getenv)
		if err != nil {
			return nil, err
		}
		c = *loaded
	}
	listedNodes, err := readFile(nodes, sys)
	if err != nil {
		return nil, err
	}
	listedPods, err := readFile(pods, sys)
	if err != nil {
		return nil, err
	}
	answer, err := capacity.FromJSON(listedNodes, listedPods, functions.Capacity(&c))
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
