package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/limits"
)

// Normalize is the command `normalize`: a config with everything that gordo
// lays over it, as JSON or YAML. Warnings go to the error output.
func Normalize() *cobra.Command {
	s := &shared{output: "json"}
	c := &cobra.Command{
		Use:   "normalize CONFIG --project-name NAME",
		Short: "Print a machine-learning project's config as gordo normalises it",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := options(gordo.ParseNormal, c.Flags(), args)
			if err != nil {
				return err
			}
			p, err := project(o, s.strict, c.ErrOrStderr())
			if err != nil {
				return err
			}
			return write(c.OutOrStdout(), s.output, p)
		},
	}
	bind(c, s)
	return c
}

// project reads and normalises the config of the options.
func project(o gordo.Options, strict bool, stderr io.Writer) (*gordo.Project, error) {
	text, err := readConfig(o.ConfigFile)
	if err != nil {
		return nil, err
	}
	config, err := gordo.Load(text)
	if err != nil {
		return nil, err
	}
	p, err := gordo.Normalize(config, o.Normal())
	if err != nil {
		return nil, err
	}
	p.Warnings = append(o.Warnings, p.Warnings...)
	return p, warn(p.Warnings, strict, stderr)
}

// warn prints warnings, or makes errors of them.
func warn(warnings []gordo.Warning, strict bool, stderr io.Writer) error {
	if strict {
		return gordo.Strict(warnings)
	}
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	return nil
}

// readConfig reads no more than a config may hold.
func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(fault.NotFound, err, "there is no config file %s", path)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the config file can't be opened: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limits.GordoConfig+1))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the config file can't be read: %v", err)
	}
	return text, nil
}

// write prints a project in the form that was asked for.
func write(stdout io.Writer, form string, p *gordo.Project) error {
	w := bufio.NewWriterSize(stdout, 1<<16)
	switch form {
	case "json":
		if err := p.WriteJSON(w); err != nil {
			return err
		}
		_, _ = w.WriteString("\n")
	case "yaml":
		text, err := p.MarshalJSON()
		if err != nil {
			return err
		}
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fault.Wrap(fault.Internal, err, "the project has no form in YAML")
		}
		_, _ = w.Write(text)
	default:
		return fault.New(fault.Invalid, "--output: %.100q is neither json nor yaml", form)
	}
	if err := w.Flush(); err != nil { // it tells of every write before it
		return fault.Wrap(fault.Unavailable, err, "the output can't be written: %v", err)
	}
	return nil
}
