package main

import (
	"path/filepath"
	"strings"
)

// sources are the Go files of a folder but its tests.
func sources(folder string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	names := all[:0]
	for _, name := range all {
		if !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	return names, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var escapes = strings.NewReplacer("|", `\|`, "<", "&lt;")

// cell is a text that may stand in a table.
func cell(text string) string { return escapes.Replace(oneLine(text)) }

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	return strings.TrimSuffix(text, ".") + "."
}

// code lists texts as code.
func code(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = "`" + text + "`"
	}
	return strings.Join(quoted, ", ")
}
