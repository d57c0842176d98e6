// Package jinja renders a user's own template in place of the Workflow. It is
// for the command line only: whoever may run it may read the files anyway.
package jinja

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
)

// path is where the one template of a rendering stands; there is no other that
// it could include.
const path = "/template"

// Template is a template that was read.
type Template struct{ template *exec.Template }

// Parse reads a template.
func Parse(text string) (t *Template, err error) {
	defer caught(&err)
	settings := config.New()
	settings.StrictUndefined = true
	settings.KeepTrailingNewline = true
	loader, err := loaders.NewMemoryLoader(map[string]string{path: text})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the template engine does not start")
	}
	environment := &exec.Environment{
		Context:           exec.EmptyContext().Update(builtins.GlobalFunctions).Update(builtins.GlobalVariables),
		Filters:           exec.NewFilterSet(map[string]exec.FilterFunction{"yaml": asYAML}).Update(builtins.Filters),
		Tests:             builtins.Tests,
		ControlStructures: builtins.ControlStructures,
		Methods:           builtins.Methods,
	}
	template, err := exec.NewTemplate(path, settings, loader, environment)
	if err != nil {
		return nil, bad(err)
	}
	return &Template{template}, nil
}

// Render fills in variables. One that the template names and that is not there
// is an error.
func (t *Template) Render(variables map[string]any) (text string, err error) {
	defer caught(&err)
	var out bytes.Buffer
	if err := t.template.Execute(&out, exec.NewContext(variables)); err != nil {
		return "", bad(err)
	}
	return out.String(), nil
}

func bad(err error) error {
	return fault.Wrap(fault.Invalid, err, "--workflow-template: %.500s", err.Error())
}

// caught makes an error of a panic inside the engine.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = bad(fmt.Errorf("the template engine gives up: %v", r))
	}
}

// asYAML is gordo's filter `yaml`.
func asYAML(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	if p := params.ExpectNothing(); p.IsError() {
		return exec.AsValue(fmt.Errorf("the filter yaml takes no arguments: %w", p))
	}
	text, err := yaml.Marshal(in.ToGoSimpleType(false))
	if err != nil {
		return exec.AsValue(err)
	}
	return exec.AsSafeValue(strings.TrimSuffix(string(text), "\n"))
}
