// Package command makes gordo's two commands of the command line: `normalize`
// and `generate`.
package command

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
)

// shared is what both commands take beside gordo's own flags.
type shared struct {
	strict bool
	output string
}

// bind gives a command gordo's flags.
func bind(c *cobra.Command, s *shared) {
	for _, f := range gordo.Flags {
		if f.Switch {
			c.Flags().Bool(f.Name, false, usage(f))
		} else {
			c.Flags().String(f.Name, f.Default, usage(f))
		}
	}
	c.Flags().BoolVar(&s.strict, "strict", false, "make errors of warnings")
	c.Flags().StringVarP(&s.output, "output", "o", s.output, "form of what is printed: json or yaml")
}

func usage(f gordo.Flag) string {
	if f.Env == "" {
		return f.Usage
	}
	return f.Usage + " [$" + f.Env + "]"
}

// options reads the flags: what is given wins over the environment.
func options(parse func(gordo.Lookup) (gordo.Options, error), flags *pflag.FlagSet, args []string) (gordo.Options, error) {
	o, err := parse(func(f gordo.Flag) (string, bool) { return given(flags, f) })
	if err != nil {
		return o, err
	}
	if len(args) == 1 {
		o.ConfigFile = args[0]
	}
	if o.ConfigFile == "" {
		return o, fault.New(fault.Invalid, "no config: name its file")
	}
	return o, nil
}

// given is what a command line, else the environment, says for a flag.
func given(flags *pflag.FlagSet, f gordo.Flag) (value string, ok bool) {
	switch {
	case flags.Changed(f.Name) && f.Switch:
		on, _ := flags.GetBool(f.Name)
		return strconv.FormatBool(on), true
	case flags.Changed(f.Name):
		value, _ = flags.GetString(f.Name)
		return value, true
	case f.Env == "":
		return "", false
	}
	return os.LookupEnv(f.Env)
}
