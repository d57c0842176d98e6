package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/runhook/runhook/pkg/openapi"
)

const module = "github.com/runhook/runhook/"

// comments knows the comments of struct fields, folder by folder.
type comments struct {
	folders map[string]map[string]map[string]string // folder, type, field
	err     error
}

// describe gives a field's comment with JSON's names in it.
func (c *comments) describe(f openapi.Field) string {
	folder, ours := strings.CutPrefix(f.Owner.PkgPath(), module)
	if !ours {
		return ""
	}
	if c.folders[folder] == nil {
		c.folders[folder] = c.read(folder)
	}
	text := c.folders[folder][f.Owner.Name()][f.GoName]
	for _, sibling := range openapi.Fields(f.Owner) {
		text = word(sibling.GoName).ReplaceAllLiteralString(text, "`"+sibling.Name+"`")
	}
	return text
}

func word(text string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(text) + `\b`)
}

func (c *comments) read(folder string) map[string]map[string]string {
	all := map[string]map[string]string{}
	parsed, err := parseFolder(token.NewFileSet(), folder)
	if err != nil {
		c.err = err
	}
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if object, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = ofFields(object)
				}
			}
			return true
		})
	}
	return all
}

// ofFields reads a struct. A comment above several fields is about all that
// it names.
func ofFields(object *ast.StructType) map[string]string {
	fields := map[string]string{}
	above := ""
	for _, f := range object.Fields.List {
		if f.Doc != nil {
			above = oneLine(f.Doc.Text())
		}
		for _, name := range f.Names {
			switch {
			case f.Doc != nil:
				fields[name.Name] = above
			case f.Comment != nil:
				fields[name.Name] = sentence(oneLine(f.Comment.Text()))
			case word(name.Name).MatchString(above):
				fields[name.Name] = above
			}
		}
	}
	return fields
}
