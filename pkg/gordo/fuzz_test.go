package gordo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/internal/table"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/yaml11"
)

// FuzzNormalize: whatever stands in a config, it is normalised into JSON or
// refused with a fault of the caller's, and nothing panics.
func FuzzNormalize(f *testing.F) {
	paths, err := filepath.Glob("testdata/cases/*/config.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatal("there are no seeds")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Load(text)
		if err == nil {
			var p *Project
			if p, err = Normalize(c, Normal{Project: "p", Version: "6.0.4"}); err == nil {
				if _, err := p.MarshalJSON(); err != nil {
					t.Errorf("no JSON: %v", err)
				}
				return
			}
		}
		var mistake *fault.Error
		if !errors.As(err, &mistake) || mistake.Kind == fault.Internal {
			t.Errorf("not a fault of the caller's: %v", err)
		}
	})
}

// FuzzPatch: laying a value over itself changes nothing, nothing of the lower
// value's keys goes, and neither value is changed.
func FuzzPatch(f *testing.F) {
	f.Add("{a: [1, {b: 2}], '': {c: 1}}", "{a: [3], '': {d: .nan}, e: ~}")
	f.Add("{1: x, a: {b: 1.0}}", "{yes: y, a: {b: true}}")
	f.Add("[1]", "{a: 1}")
	f.Fuzz(func(t *testing.T, lower, upper string) {
		original, err1 := yaml11.LoadText(lower)
		patch, err2 := yaml11.LoadText(upper)
		if err1 != nil || err2 != nil {
			return
		}
		w := py.Writer{Date: py.Date.ISO}
		before, err1 := w.Append(nil, []any{original, patch})
		got, err := Patch(original, patch)
		if after, err2 := w.Append(nil, []any{original, patch}); err1 == nil && (err2 != nil || string(after) != string(before)) {
			t.Errorf("the patch changed its input: %s became %s", before, after)
		}
		if again, err := Patch(original, original); err == nil && !table.Same(again, original) {
			t.Errorf("laid over itself %s became %v", lower, again)
		}
		m, isMap := original.(*py.Map)
		result, ok := got.(*py.Map)
		if err == nil && isMap && !ok {
			t.Fatalf("a mapping became %T", got)
		}
		for _, e := range m.Entries() {
			if _, there := result.Get(e.Key); err == nil && !there {
				t.Errorf("the key %v is gone", e.Key)
			}
		}
	})
}
