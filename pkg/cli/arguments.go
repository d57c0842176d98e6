package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// takeAsUsed makes every command take the arguments that its line of use names,
// so that the line and the rule cannot differ. A command with a rule of its own
// keeps it.
func takeAsUsed(commands []*cobra.Command) {
	for _, cmd := range commands {
		if cmd.Args == nil {
			cmd.Args = checkArguments
		}
	}
}

func checkArguments(cmd *cobra.Command, args []string) error {
	least, most := argumentsOf(cmd.Use)
	switch {
	case len(args) < len(least):
		return usage{fmt.Errorf("%s: name %s\nusage: %s", cmd.Name(), strings.Join(least[len(args):], " and "), cmd.UseLine())}
	case len(args) > len(most):
		takes := "no argument"
		if len(most) > 0 {
			takes = "only " + strings.Join(most, " and ")
		}
		return usage{fmt.Errorf("%s takes %s%s: %q is too much\nusage: %s", cmd.Name(), takes, fileHint(cmd.Use), args[len(most)], cmd.UseLine())}
	}
	return nil
}

// argumentsOf gives what a line of use names before the first flag: the
// shortest and the longest list of its forms, which stand between bars.
func argumentsOf(use string) (least, most []string) {
	for i, form := range strings.Split(use, " | ") {
		var names []string
		for _, word := range strings.Fields(form)[1:] {
			if strings.HasPrefix(strings.TrimPrefix(word, "["), "-") {
				break
			}
			names = append(names, word)
		}
		if i == 0 || len(names) < len(least) {
			least = names
		}
		if len(names) > len(most) {
			most = names
		}
	}
	return least, most
}

// fileHint says which flag names the file that somebody may have given as an
// argument.
func fileHint(use string) string {
	for _, flag := range []string{"-f", "-c"} {
		if strings.Contains(use, flag+" ") {
			return ", and a file with " + flag
		}
	}
	return ""
}
