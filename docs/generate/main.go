// Command generate writes the files that are made from code or from another
// file. It runs in the root of the repository, by `make generate`.
package main

import (
	"bytes"
	"fmt"
	"os"
)

// pages are the generated files, by their paths.
var pages = map[string]func(*bytes.Buffer) error{
	"docs/limits.md":    limitsPage,
	"docs/metrics.md":   metricsPage,
	"docs/reference.md": referencePage,

	"manifests/monitoring/prometheusrule.yaml": prometheusRule,
}

func main() {
	for name, write := range pages {
		var page bytes.Buffer
		err := write(&page)
		if err == nil {
			err = os.WriteFile(name, page.Bytes(), 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "generate: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// made stands on top of every page of docs/.
const made = "<!-- Made from code by `make generate`: change the code. -->\n\n"
