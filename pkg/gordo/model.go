package gordo

import (
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// kerasModels is where gordo's own Keras models live: they take a kind.
const kerasModels = "gordo.machine.model.models.Keras"

// kinds are the names that gordo registers for its Keras models.
var kinds = map[string]bool{
	"feedforward_model": true, "feedforward_symmetric": true, "feedforward_hourglass": true,
	"lstm_model": true, "lstm_symmetric": true, "lstm_hourglass": true,
}

// model checks the shape of a definition. No class is imported: what is not
// known here is warned of and left to the builder.
func (r *report) model(path string, definition any) {
	m, ok := definition.(*py.Map)
	if !ok {
		if _, text := definition.(string); !text {
			r.fail(path, "must be a class path or a mapping of a class path to its arguments, not %s", kindOf(definition))
		}
		return
	}
	if m.Len() != 1 {
		return // gordo takes it for plain values
	}
	class, ok := m.Entries()[0].Key.(string)
	if !ok {
		r.fail(path, "must name a class by text, not by %s", kindOf(m.Entries()[0].Key))
		return
	}
	at := strict.Key(path, class)
	if !knownClass(class) {
		r.warn(ModelUnchecked, at, "is no class that is known here, and classes are not imported: make sure that the builder's image has it")
	}
	r.arguments(at, class, m.Entries()[0].Value)
}

func (r *report) arguments(path, class string, v any) {
	arguments, isMap := v.(*py.Map)
	_, isList := v.([]any)
	switch {
	case class == "sklearn.pipeline.Pipeline" && !isList && arguments.At("steps") == nil:
		r.fail(path, "needs steps: a list of class paths and of mappings of a class path to its arguments")
	case strings.HasPrefix(class, kerasModels):
		r.kind(path, arguments)
	}
	if isList {
		r.steps(path, v)
	}
	if !isMap {
		return
	}
	for _, e := range arguments.Entries() {
		at := strict.Key(path, py.Text(e.Key))
		if e.Key == "steps" && strings.HasPrefix(class, "sklearn.pipeline.") {
			r.steps(at, e.Value)
			continue
		}
		// An argument of one key that looks like a class path is a class.
		if m, ok := e.Value.(*py.Map); ok && m.Len() == 1 && e.Key != "kind" {
			if name, ok := m.Entries()[0].Key.(string); ok && strings.Contains(name, ".") {
				r.model(at, m)
			}
		}
	}
}

func (r *report) steps(path string, v any) {
	list, ok := v.([]any)
	if !ok {
		r.fail(path, "must be a list of steps, not %s", kindOf(v))
		return
	}
	for i, step := range list {
		r.model(strict.Index(path, i), step)
	}
}

func (r *report) kind(path string, arguments *py.Map) {
	kind, there := arguments.Get("kind")
	text, isText := kind.(string)
	switch {
	case !there:
		r.fail(path+".kind", "is missing: a Keras model of gordo takes a kind, as in kind: feedforward_hourglass")
	case isText && !kinds[text] && !strings.Contains(text, "."):
		r.fail(path+".kind", "%.100q is no kind that gordo knows: use feedforward_model, feedforward_symmetric, feedforward_hourglass, lstm_model, lstm_symmetric, lstm_hourglass, or the path of your own function", text)
	}
}
