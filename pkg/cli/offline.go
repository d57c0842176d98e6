package cli

import (
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
)

// offline are the flags that read recorded objects instead of a cluster.
type offline struct {
	file, run string
	pods      []string
}

func (o *offline) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "a Workflow or a List as JSON or YAML, instead of a cluster; - for standard input")
	cmd.Flags().StringArrayVar(&o.pods, "pods", nil, "pods as they were seen at one moment; several times: oldest first")
	cmd.Flags().StringVar(&o.run, "run", "", "which Workflow of the List")
}

// read gives the Workflow and its pods, moment by moment.
func (o *offline) read(sys System) (*status.Workflow, [][]corev1.Pod, error) {
	data, err := readFile(o.file, sys)
	if err != nil {
		return nil, nil, err
	}
	workflow, err := status.ReadWorkflow(o.file, data, o.run)
	if err != nil {
		return nil, nil, err
	}
	moments := make([][]corev1.Pod, 0, len(o.pods))
	for _, file := range o.pods {
		data, err := readFile(file, sys)
		if err != nil {
			return nil, nil, err
		}
		pods, err := status.ReadPods(file, data)
		if err != nil {
			return nil, nil, err
		}
		moments = append(moments, pods)
	}
	return workflow, moments, nil
}

func causeCommand(sys System) *cobra.Command {
	var from offline
	var format output
	cmd := &cobra.Command{
		Use:   "cause -f WORKFLOW [--pods PODS]...",
		Short: "Say why each attempt of a recorded run ended",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			workflow, moments, err := from.read(sys)
			if err != nil {
				return err
			}
			return format.write(cmd.OutOrStdout(), status.CausesOf(workflow, moments...))
		},
	}
	from.flags(cmd)
	format.flag(cmd, "json")
	must(cmd.MarkFlagRequired("file"))
	return cmd
}
