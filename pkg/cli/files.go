package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/strict"
)

// readDocument reads a file that holds one YAML document, of which JSON is a part.
func readDocument(name string, sys System) (*strict.Document, error) {
	data, err := readFile(name, sys)
	if err != nil {
		return nil, err
	}
	return strict.Parse(name, data)
}

// readFile reads a file whole; - is standard input. One that cannot be read is
// a wrong call.
func readFile(name string, sys System) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(sys.In)
		if err != nil {
			return nil, usage{fmt.Errorf("standard input cannot be read: %w", err)}
		}
		return data, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage{err}
	}
	return data, nil
}

// output is the flag -o: json or yaml.
type output string

func (o *output) flag(cmd *cobra.Command, otherwise string) {
	*o = output(otherwise)
	cmd.Flags().VarP(o, "output", "o", "json or yaml")
}

// String, Set and Type make it a flag that knows its values.
func (o *output) String() string { return string(*o) }

// Set takes json or yaml.
func (o *output) Set(text string) error {
	if text != "json" && text != "yaml" {
		return fmt.Errorf("%q is neither json nor yaml", text)
	}
	*o = output(text)
	return nil
}

// Type names the flag's values.
func (o *output) Type() string { return "json|yaml" }

// write prints a value for a program.
func (o output) write(w io.Writer, value any) error {
	if o == "yaml" {
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// must is for what only a mistake in this package can bring about.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
