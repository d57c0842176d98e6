package workflow

import (
	"unicode/utf8"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// task is one task of the DAG. It is written by hand, since a project has
// thousands and their text is long; a test holds it against the object.
type task struct {
	name, template string
	needs          []string
	inputs         []input
}

// input is what a task hands to its template.
type input struct {
	name, value string
	quoted      []byte // the value in quotes, where that is known
}

func (i input) appendValue(b []byte) []byte {
	if i.quoted != nil {
		return append(b, i.quoted...)
	}
	return quote(b, i.value)
}

// object is the task as Argo's own type.
func (t task) object() wfv1.DAGTask {
	object := wfv1.DAGTask{Name: t.name, Template: t.template, Dependencies: t.needs}
	for _, i := range t.inputs {
		object.Arguments.Parameters = append(object.Arguments.Parameters, wfv1.Parameter{Name: i.name, Value: wfv1.AnyStringPtr(i.value)})
	}
	return object
}

// appendJSON writes the task. Names of tasks, templates and inputs need no
// escapes: they are ours, or were checked.
func (t task) appendJSON(b []byte) []byte {
	b = append(append(append(append(b, `{"name":"`...), t.name...), `","template":"`...), t.template...)
	b = append(b, '"')
	for i, in := range t.inputs {
		if i == 0 {
			b = append(b, `,"arguments":{"parameters":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"name":"`...), in.name...), `","value":`...)
		b = append(in.appendValue(b), '}')
	}
	if len(t.inputs) > 0 {
		b = append(b, "]}"...)
	}
	for i, need := range t.needs {
		if i == 0 {
			b = append(b, `,"dependencies":["`...)
		} else {
			b = append(b, `","`...)
		}
		b = append(b, need...)
	}
	if len(t.needs) > 0 {
		b = append(b, `"]`...)
	}
	return append(b, '}')
}

// appendYAML writes the task as an item of the list in a document.
func (t task) appendYAML(b []byte) []byte {
	b = append(append(append(append(b, "      - name: "...), t.name...), "\n        template: "...), t.template...)
	b = append(b, '\n')
	if len(t.inputs) > 0 {
		b = append(b, "        arguments:\n          parameters:\n"...)
	}
	for _, in := range t.inputs {
		b = append(append(append(b, "          - name: "...), in.name...), "\n            value: "...)
		b = append(in.appendValue(b), '\n')
	}
	if len(t.needs) > 0 {
		b = append(b, "        dependencies:\n"...)
	}
	for _, need := range t.needs {
		b = append(append(append(b, "        - "...), need...), '\n')
	}
	return b
}

// quote writes a text in quotes, for JSON and YAML alike. The texts are JSON of
// ASCII, so that only quotes and backslashes are escaped; another text is
// written with its other characters as they are.
func quote(b []byte, text string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf-1 {
			continue
		}
		b = append(b, text[start:i]...)
		start = i + 1
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= utf8.RuneSelf:
			b = append(b, c)
		default:
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(b, text[start:]...), '"')
}
