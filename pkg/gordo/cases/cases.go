// Package cases plays the recorded cases of gordo on our commands, for tests.
package cases

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Run is what a command answered.
type Run struct {
	Out, Warnings string
	Err           error
}

// Names are the folders that hold a file.
func Names(t *testing.T, testdata, file string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "cases", "*", file))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no case holds %s: %v", file, err)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(filepath.Dir(p))
	}
	return names
}

// Play runs a command on a case: with its flags, its environment, its project,
// and the stand-ins for the argo program.
func Play(t *testing.T, testdata string, c *cobra.Command, name string, more ...string) Run {
	t.Helper()
	dir := filepath.Join(testdata, "cases", name)
	bin, err := filepath.Abs(filepath.Join(testdata, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	args := []string{filepath.Join(dir, "config.yaml"), "--project-name", optional(t, dir, "project.txt", "proj-a")}
	for line := range strings.Lines(optional(t, dir, "env.txt", "")) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if key == "GORDO_GLOBAL" { // options of gordo itself, before its command
			args = append(args, strings.Fields(value)...)
		} else {
			t.Setenv(key, value)
		}
	}
	if flags := optional(t, dir, "flags.txt", ""); flags != "" {
		args = append(args, strings.Split(strings.ReplaceAll(flags, "@CASE@", dir), "\n")...)
	}
	file := ""
	for i := range args {
		if args[i] == "--output-file" {
			file = filepath.Join(t.TempDir(), "out")
			args[i+1] = file
		}
	}
	args = append(args, more...)
	var out, warnings bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&warnings)
	c.SilenceUsage, c.SilenceErrors = true, true
	err = c.Execute()
	if file != "" && err == nil {
		text, readErr := os.ReadFile(file)
		if os.IsNotExist(readErr) { // `normalize` writes no file
			return Run{out.String(), warnings.String(), nil}
		}
		if readErr != nil || out.Len() > 0 {
			t.Fatalf("the output file: %v; beside it was printed %.100s", readErr, out.String())
		}
		out.Write(text)
	}
	return Run{out.String(), warnings.String(), err}
}

func optional(t *testing.T, dir, file, fallback string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if os.IsNotExist(err) {
		return fallback
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}
