package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// face is a function's command for people: its arguments become fields of the
// request, and its answer a table.
type face struct {
	name  string
	args  []string // request fields, in order
	short string
	flags func(cmd *cobra.Command, request map[string]any)
	table func(w io.Writer, answer json.RawMessage) error
}

func (f face) command(sys System) *cobra.Command {
	var t target
	var format string
	use := f.name
	for _, arg := range f.args {
		use += " " + strings.ToUpper(arg)
	}
	request := map[string]any{}
	cmd := &cobra.Command{
		Use:   use,
		Short: f.short,
		Args:  cobra.ExactArgs(len(f.args)),
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, name := range f.args {
				request[name] = args[i]
			}
			answer, err := t.invoke(cmd.Context(), sys, f.name, request)
			if err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), format, answer, f.table)
		},
	}
	t.flags(cmd, sys)
	formatFlag(cmd, &format)
	if f.flags != nil {
		f.flags(cmd, request)
	}
	return cmd
}

func formatFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "output", "o", "", "table, json or yaml (default: table on a terminal, else json)")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
}

// show prints an answer: as a table for people, as JSON or YAML for programs.
func show(w io.Writer, format string, answer json.RawMessage, table func(io.Writer, json.RawMessage) error) error {
	if format == "" {
		format = "json"
		if isTerminal(w) {
			format = "table"
		}
	}
	switch format {
	case "table":
		return table(w, answer)
	case "json", "yaml":
		return output(format).write(w, answer)
	default:
		return usage{fmt.Errorf("-o %s: table, json or yaml", format)}
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
