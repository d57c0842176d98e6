package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
)

// face is a function's command for people: its arguments become fields of the
// request, and its answer a table.
type face struct {
	name string
	// args are the request's fields, in the order of the arguments. A name with
	// a # is a number's.
	args []string
	// flags adds flags, and gives what writes them into the request.
	flags func(f *pflag.FlagSet) func(request map[string]any)
	table table
}

// faces are the functions whose command does no more than call them.
var faces = []face{
	{name: "cancel", args: []string{"run"}, table: one("run", "phase", "changed")},
	{name: "stop", args: []string{"run"}, table: one("run", "phase", "changed")},
	{name: "extra", args: []string{"run", "task", "#workers"}, table: one("run", "task", "workers", "changed")},
	{name: "placements", table: list("placements", "run", "task", "worker", "attempt", "pod", "node", "phase", "cores", "memoryGiB")},
	{name: "reserve", args: []string{"node", "run"}, flags: ifFree, table: one("node", "run", "replaced", "changed")},
	{name: "unreserve", args: []string{"node", "run"}, table: one("node", "run", "changed")},
	{name: "has-image", args: []string{"ref"}, table: one("ref", "exists", "digest")},
}

func ifFree(f *pflag.FlagSet) func(map[string]any) {
	only := f.Bool("if-free", false, "refuse to replace another run's reservation")
	return func(request map[string]any) { request["ifFree"] = *only }
}

func (f face) command(sys System) *cobra.Command {
	var t target
	var out format
	cmd := &cobra.Command{
		Use:               f.use(),
		Short:             summary(f.name),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	t.flags(cmd, sys)
	out.flag(cmd)
	write := func(map[string]any) {}
	if f.flags != nil {
		write = f.flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request, err := f.request(args)
		if err != nil {
			return err
		}
		write(request)
		on, err := t.reach(sys)
		if err != nil {
			return err
		}
		answer, err := on.do(cmd.Context(), call{name: f.name, request: request})
		if err != nil {
			return err
		}
		return out.show(cmd.OutOrStdout(), answer, f.table)
	}
	return cmd
}

func (f face) use() string {
	use := f.name
	for _, arg := range f.args {
		use += " " + strings.ToUpper(strings.TrimPrefix(arg, "#"))
	}
	return use
}

func (f face) request(args []string) (map[string]any, error) {
	request := make(map[string]any, len(args))
	for i, name := range f.args {
		name, isNumber := strings.CutPrefix(name, "#")
		request[name] = args[i]
		if isNumber {
			number, err := strconv.Atoi(args[i])
			if err != nil {
				return nil, usage{fmt.Errorf("%s: %q is not a whole number", strings.ToUpper(name), args[i])}
			}
			request[name] = number
		}
	}
	return request, nil
}

// known are the functions as the table has them, for names and sentences only.
func known() *functions.Table {
	c := config.Default()
	all, err := functions.New(&c, nil)
	must(err) // the default config names no function and no hook
	return all
}

// summary is a function's sentence.
func summary(name string) string {
	f, ok := known().Find(name)
	if !ok {
		panic("there is no function " + name)
	}
	return strings.ToUpper(f.Summary[:1]) + f.Summary[1:]
}

// format is the flag -o: table, json or yaml.
type format string

func (f *format) flag(cmd *cobra.Command) {
	cmd.Flags().VarP(f, "output", "o", "table, json or yaml (default: table on a terminal, else json)")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
}

// String, Set and Type make it a flag that knows its values.
func (f *format) String() string { return string(*f) }

// Set takes table, json or yaml.
func (f *format) Set(text string) error {
	if text != "table" && text != "json" && text != "yaml" {
		return fmt.Errorf("%q is neither table, json nor yaml", text)
	}
	*f = format(text)
	return nil
}

// Type names the flag's values.
func (f *format) Type() string { return "table|json|yaml" }

// of is what to write: what was asked for, else what suits the reader.
func (f format) of(w io.Writer) format {
	switch {
	case f != "":
		return f
	case isTerminal(w):
		return "table"
	}
	return "json"
}

// show prints an answer: as a table for people, as JSON or YAML for programs.
func (f format) show(w io.Writer, answer json.RawMessage, t table) error {
	if f = f.of(w); f == "table" {
		return t(w, answer)
	}
	return output(f).write(w, answer)
}
