package command

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/jinja"
	"github.com/runhook/runhook/pkg/gordo/workflow"
)

// Submission is what --submit hands to the function `generate`.
type Submission struct {
	Config            []byte
	Project, Revision string
	Namespace         string
	Options           map[string]string // what was given for the other flags
	Output            string            // json or yaml; empty: not said
}

// Submitter calls the function `generate`, as its own flags say where.
type Submitter interface {
	Flags(c *cobra.Command)
	Submit(c *cobra.Command, s Submission) error
}

// Generate is the command `generate`: the Argo Workflows of a config. Without a
// submitter it has no flag --submit.
func Generate(submitter Submitter) *cobra.Command {
	s := &shared{output: "yaml"}
	submit := false
	c := &cobra.Command{
		Use:   "generate CONFIG --project-name NAME",
		Short: "Print the Argo Workflows of a machine-learning project's config",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := options(gordo.ParseOptions, c.Flags(), args)
			if err != nil {
				return err
			}
			g, err := prepare(c.Context(), o, s, c.ErrOrStderr())
			if err != nil {
				return err
			}
			if submit {
				handed, err := submission(o, s, c.Flags())
				if err != nil {
					return err
				}
				return submitter.Submit(c, handed)
			}
			return g.print(s.output, c.OutOrStdout())
		},
	}
	bind(c, s)
	if submitter != nil {
		submitter.Flags(c)
		c.Flags().BoolVar(&submit, "submit", false, "create the Workflows instead of printing them")
	}
	return c
}

// generation is what is known once the flags and the config are read.
type generation struct {
	options gordo.Options
	project *gordo.Project
	plan    *workflow.Plan
	argo    string // version; only its major number matters to a Workflow
}

func prepare(ctx context.Context, o gordo.Options, s *shared, stderr io.Writer) (*generation, error) {
	p, err := project(o, s.strict, stderr)
	if err != nil {
		return nil, err
	}
	if o.Revision == "" {
		o.Revision = strconv.FormatInt(time.Now().UnixMilli(), 10)
	}
	version, major, err := argoVersion(ctx, o.ArgoBinary, runProgram)
	if err != nil {
		return nil, err
	}
	plan, err := workflow.New(p, o, major)
	if err != nil {
		return nil, err
	}
	return &generation{o, p, plan, version}, warn(plan.Warnings(), s.strict, stderr)
}

// submission is what was given, for the function to read as this command has.
func submission(o gordo.Options, s *shared, flags *pflag.FlagSet) (Submission, error) {
	for name, value := range map[string]string{"workflow-template": o.Template, "output-file": o.OutputFile, "argo-binary": o.ArgoBinary} {
		if value != "" {
			return Submission{}, fault.New(fault.Invalid, "--%s: is for what is printed, not for what is submitted", name)
		}
	}
	config, err := readConfig(o.ConfigFile)
	if err != nil {
		return Submission{}, err
	}
	handed := Submission{Config: config, Project: o.Project, Revision: o.Revision, Namespace: o.Namespace, Options: map[string]string{}}
	for _, f := range gordo.Flags {
		if value, ok := given(flags, f); ok && !f.Local && f.Name != "project-name" && f.Name != "project-revision" {
			handed.Options[f.Name] = value
		}
	}
	if flags.Changed("output") {
		handed.Output = s.output
	}
	return handed, nil
}

// print writes the Workflows to the output file, or to the standard output.
func (g *generation) print(form string, stdout io.Writer) (err error) {
	if form != "yaml" && form != "json" {
		return fault.New(fault.Invalid, "--output: %.100q is neither json nor yaml", form)
	}
	if path := g.options.OutputFile; path != "" {
		f, err := os.Create(path)
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "--output-file: %v", err)
		}
		defer f.Close()
		stdout = f
	}
	w := bufio.NewWriterSize(stdout, 1<<16)
	if g.options.Template != "" {
		err = g.printTemplate(w)
	} else {
		err = g.printDocuments(form, w)
	}
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the output can't be written: %v", err)
	}
	return nil
}

// printDocuments writes a JSON list, or YAML documents; one is held at a time.
// A write that fails is told by the last flush.
func (g *generation) printDocuments(form string, w *bufio.Writer) error {
	begin, between, end := "", "---\n", ""
	if form == "json" {
		begin, between, end = "[", ",\n", "]\n"
	}
	_, _ = w.WriteString(begin)
	first := true
	var buffer []byte
	for document, err := range g.plan.Documents() {
		if err != nil {
			return err
		}
		write := document.AppendYAML
		if form == "json" {
			write = document.AppendJSON
		}
		if buffer, err = write(buffer[:0]); err != nil {
			return fault.Wrap(fault.Internal, err, "a Workflow can't be written")
		}
		if !first {
			_, _ = w.WriteString(between)
		}
		first = false
		_, _ = w.Write(buffer)
	}
	_, _ = w.WriteString(end)
	return nil
}

// printTemplate writes what the user's own template makes of each part.
func (g *generation) printTemplate(w *bufio.Writer) error {
	text, err := os.ReadFile(g.options.Template)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "--workflow-template: %v", err)
	}
	template, err := jinja.Parse(string(text))
	if err != nil {
		return err
	}
	first := true
	for part, err := range g.plan.Parts() {
		if err != nil {
			return err
		}
		result, err := template.Render(g.plan.Variables(part, g.argo))
		if err != nil {
			return err
		}
		if !first {
			_, _ = w.WriteString("---\n")
		}
		first = false
		_, _ = w.WriteString(result)
	}
	return nil
}
