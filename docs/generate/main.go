// Command generate writes the pages of docs/ that are made from code. It runs
// in the root of the repository, by `make generate`.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// pages are the generated pages of docs/.
var pages = map[string]func(*bytes.Buffer) error{
	"limits.md":    limitsPage,
	"metrics.md":   metricsPage,
	"reference.md": referencePage,
}

func main() {
	for name, write := range pages {
		var page bytes.Buffer
		err := write(&page)
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", name), page.Bytes(), 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "generate: docs/%s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// made stands on top of every page.
const made = "<!-- Made from code by `make generate`: change the code. -->\n\n"
