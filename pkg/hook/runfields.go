package hook

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/runhook/runhook/pkg/status"
)

// runFields refuses a field that `run` does not have. A run reaches CEL as its
// JSON, whose keys CEL takes as they come: a slip of the pen would be found by
// an alert in the night.
type runFields struct{}

// fieldsOfRun are the status' own and what Runs adds to them.
var fieldsOfRun = sync.OnceValues(func() ([]string, error) {
	fields, err := throughJSON(status.Status{})
	if err != nil {
		return nil, err
	}
	known := fields.(object)
	return append(slices.Sorted(maps.Keys(known)), "queue", "priority"), nil
})

// Name is how CEL calls the rule.
func (runFields) Name() string { return "runhook.run.fields" }

// Validate looks at every `run.<field>`.
func (runFields) Validate(_ *cel.Env, _ cel.ValidatorConfig, tree *ast.AST, issues *cel.Issues) {
	known, err := fieldsOfRun()
	if err != nil {
		issues.ReportErrorAtID(tree.Expr().ID(), "%v", err)
		return
	}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind {
			return
		}
		of, field := e.AsSelect().Operand(), e.AsSelect().FieldName()
		if of.Kind() == ast.IdentKind && of.AsIdent() == "run" && !slices.Contains(known, field) {
			issues.ReportErrorAtID(e.ID(), "undefined field '%s'; run has %s", field, strings.Join(known, ", "))
		}
	}))
}
