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

// recorded is what the files hold of a run: its pods moment by moment.
type recorded struct {
	workflow *status.Workflow
	helpers  []*status.Workflow
	moments  [][]corev1.Pod
}

func (o *offline) read(sys System) (recorded, error) {
	data, err := readFile(o.file, sys)
	if err != nil {
		return recorded{}, err
	}
	workflow, helpers, err := status.ReadRun(o.file, data, o.run)
	if err != nil {
		return recorded{}, err
	}
	moments := make([][]corev1.Pod, 0, len(o.pods))
	for _, file := range o.pods {
		data, err := readFile(file, sys)
		if err != nil {
			return recorded{}, err
		}
		pods, err := status.ReadPods(file, data)
		if err != nil {
			return recorded{}, err
		}
		moments = append(moments, pods)
	}
	return recorded{workflow, helpers, moments}, nil
}

func causeCommand(sys System) *cobra.Command {
	var from offline
	var format output
	cmd := &cobra.Command{
		Use:   "cause -f WORKFLOW [--pods PODS]...",
		Short: "Say why each attempt of a recorded run ended",
		RunE: func(cmd *cobra.Command, _ []string) error {
			run, err := from.read(sys)
			if err != nil {
				return err
			}
			return format.write(cmd.OutOrStdout(), status.CausesOf(run.workflow, run.moments...))
		},
	}
	from.flags(cmd)
	format.flag(cmd, "json")
	must(cmd.MarkFlagRequired("file"))
	return cmd
}
