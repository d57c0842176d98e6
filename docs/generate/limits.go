package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/openapi"
)

const limitsFolder = "pkg/limits"

func limitsPage(page *bytes.Buffer) error {
	fmt.Fprint(page, made, "# Limits\n\nEvery limit with its reason. Those with a key can be changed in the config.\n")
	groups, err := constants(limitsFolder)
	if err != nil {
		return err
	}
	for _, g := range groups {
		fmt.Fprintf(page, "\n## %s\n\n| limit | value | key | reason |\n|---|---|---|---|\n", strings.TrimSuffix(g.doc, "."))
		for _, l := range g.list {
			fmt.Fprintf(page, "| %s | %s | %s | %s |\n", l.name, l.value, configKey(l.name), cell(l.doc))
		}
	}
	return nil
}

// configKey is the key of the config that changes a limit, if there is one.
func configKey(name string) string {
	for _, f := range openapi.Fields(reflect.TypeFor[limits.Set]()) {
		if f.GoName == name {
			return "`limits." + f.Name + "`"
		}
	}
	return ""
}

type group struct {
	doc  string
	list []limit
}

type limit struct{ name, value, doc string }

// constants reads the constants of a package group by group, with their
// comments, in the order of the files.
func constants(folder string) ([]group, error) {
	files := token.NewFileSet()
	parsed, err := parseFolder(files, folder)
	if err != nil {
		return nil, err
	}
	checker := types.Config{Importer: onlyTime{importer.ForCompiler(files, "source", nil)}, Error: func(error) {}}
	checked, _ := checker.Check(folder, files, parsed, nil)
	var groups []group
	for _, file := range parsed {
		for _, declaration := range file.Decls {
			g, ok := declaration.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			list := limitsOf(g, checked.Scope())
			if len(list) == 0 {
				continue
			}
			if g.Doc == nil {
				return nil, fmt.Errorf("the constants at %s have no comment that names them all", files.Position(g.Pos()))
			}
			groups = append(groups, group{oneLine(g.Doc.Text()), list})
		}
	}
	return groups, nil
}

// onlyTime imports what constants need, and nothing else, which takes long:
// that the rest of the package is not understood does not matter.
type onlyTime struct{ types.Importer }

func (i onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, fmt.Errorf("package %s is not needed", path)
	}
	return i.Importer.Import(path)
}

func limitsOf(g *ast.GenDecl, scope *types.Scope) []limit {
	var list []limit
	doc := ""
	for _, s := range g.Specs {
		spec := s.(*ast.ValueSpec)
		if spec.Doc != nil {
			doc = oneLine(spec.Doc.Text()) // it may be about the following ones, too
		}
		if c, ok := scope.Lookup(spec.Names[0].Name).(*types.Const); ok && c.Exported() {
			list = append(list, limit{c.Name(), valueOf(c, spec), doc})
		}
	}
	return list
}

// valueOf writes a constant as a person would: a duration, a size that is
// written by shifts, or a number.
func valueOf(c *types.Const, spec *ast.ValueSpec) string {
	n, exact := constant.Int64Val(constant.ToInt(c.Val()))
	if !exact {
		return c.Val().String()
	}
	if strings.HasSuffix(c.Type().String(), "time.Duration") {
		return durationText(time.Duration(n))
	}
	if operation, ok := spec.Values[0].(*ast.BinaryExpr); ok && operation.Op == token.SHL {
		return sizeText(n)
	}
	return fmt.Sprint(n)
}

func durationText(d time.Duration) string {
	text := d.String()
	text = strings.TrimSuffix(text, "m0s") + map[bool]string{true: "m"}[strings.HasSuffix(text, "m0s")]
	return strings.TrimSuffix(text, "h0m") + map[bool]string{true: "h"}[strings.HasSuffix(text, "h0m")]
}

func sizeText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprint(n)
}

// parseFolder parses the Go files of a folder but its tests, by name.
func parseFolder(files *token.FileSet, folder string) ([]*ast.File, error) {
	names, err := sources(folder)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	parsed := make([]*ast.File, 0, len(names))
	for _, name := range names {
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	return parsed, nil
}
