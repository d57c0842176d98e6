package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/gordo/command"
)

// generate submits a machine-learning project by the function of that name.
type generate struct {
	sys    System
	target target
}

// Flags says where. gordo's own --namespace is that of the runs, too.
func (g *generate) Flags(c *cobra.Command) { g.target.access(c, g.sys) }

// Submit calls the function. The warnings were told before.
func (g *generate) Submit(c *cobra.Command, s command.Submission) error {
	g.target.namespace = cmp.Or(s.Namespace, runs)
	on, err := g.target.reach(g.sys)
	if err != nil {
		return err
	}
	request := map[string]any{"config": string(s.Config), "projectName": s.Project, "options": s.Options, "submit": true}
	if s.Revision != "" {
		request["revision"] = s.Revision
	}
	answer, err := on.do(c.Context(), call{name: "generate", request: request})
	if err != nil {
		return err
	}
	return format(s.Output).show(c.OutOrStdout(), answer, list("runs", "run", "created"))
}
