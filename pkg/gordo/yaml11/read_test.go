package yaml11

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/limits"
)

const testdata = "../testdata"

// refused are the rows where gordo reaches into Python and runhook does not:
// RULES section 1, "`!!python` tags refused".
var refused = map[string]bool{"!!python/tuple [1, 2]": true, "!!python/name:os.getcwd": true}

func TestScalarsReadAsPyYAMLReadsThem(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "yaml_scalars") {
		text := row.At("text").(string)
		t.Run(text, func(t *testing.T) {
			got, err := Load([]byte("v: " + text + "\n"))
			if _, bad := row.Get("error"); bad || refused[text] {
				if err == nil {
					t.Fatalf("read as %s", table.JSON(t, got))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if v := got.(*py.Map).At("v"); !table.Same(v, row.At("result")) {
				t.Errorf("got %s, want %s", table.JSON(t, v), table.JSON(t, row.At("result")))
			}
		})
	}
}

func TestTimestampsNeedAZoneInAFileOnly(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "timestamps") {
		text := row.At("text").(string)
		t.Run(text, func(t *testing.T) {
			got, err := Load([]byte("v: " + text + "\n"))
			check(t, row.MapAt("loaded"), got, err)
			got, err = LoadText("v: " + text + "\n")
			check(t, row.MapAt("nested_loaded"), got, err)
		})
	}
}

func check(t *testing.T, want *py.Map, got any, err error) {
	t.Helper()
	if _, bad := want.Get("error"); bad {
		if err == nil {
			t.Errorf("read as %s", table.JSON(t, got))
		}
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	if v := got.(*py.Map).At("v"); !table.Same(v, want.At("result")) {
		t.Errorf("got %s, want %s", table.JSON(t, v), table.JSON(t, want.At("result")))
	}
}

func TestAColonEndsAKeyInFlow(t *testing.T) {
	got, err := Load([]byte("[{a:}, {b:, c: 1}, [d:], \"e:\", f:g]"))
	want := []any{py.MapOf("a", nil), py.MapOf("b", nil, "c", int64(1)), []any{py.MapOf("d", nil)}, "e:", "f:g"}
	if err != nil || !table.Same(got, want) {
		t.Errorf("%s, %v", table.JSON(t, got), err)
	}
}

func TestMistakesSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  - b: {c: 2020-01-01}\n":   `[a 0 b c] line 2: the timestamp "2020-01-01" has no zone: write 2020-01-01T00:00:00Z, or quote it to mean the text`,
		"a: !!python/name:os.getcwd\n":   `[a] line 1: the tag !!python/name:os.getcwd is refused: a config does not reach into Python; write plain YAML`,
		"a: [b, !foo c]\n":               `[a 1] line 1: the tag !foo is not known: leave it out, or quote the value`,
		"a: &x [*x]\n":                   `[a 0] line 1: the alias *x stands inside what it names`,
		"a: 1\n---\nb: 2\n":              `[] line 2: a second document begins here, and a config is one document`,
		"a: {<<: 5}\n":                   "[a <<] line 1: `<<` takes a mapping or a list of mappings, not a whole number",
		"? [1]\n: x\n":                   "[] line 1: a list can't be a key: a key is one scalar",
		"a: 0b_\n":                       `[a] line 1: "0b_" is not a whole number: quote it to mean the text`,
		"a: !!omap [{b: 1, c: 2}]\n":     "[a 0] line 1: !!omap takes a list of mappings with one key each",
		"a: !!bool perhaps\n":            `[a] line 1: "perhaps" is not a boolean`,
		"a: 2020-01-01T00:00:00+24:00\n": `[a] line 1: the timestamp "2020-01-01T00:00:00+24:00": the zone "+24:00" is not Z, +02, +0200 or +02:00; quote it to mean the text`,
	} {
		_, err := Load([]byte(text))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := fmt.Sprint(e.Path, " ", e); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestBombsAreRefused(t *testing.T) {
	bomb := "a0: &a0 [" + strings.Repeat("lol, ", 9) + "lol]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	merges := "a0: &a0 {x: 1}\n"
	for i := 1; i < 60; i++ {
		merges += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d], k%d: 1}\n", i, i, i-1, i-1, i)
	}
	for name, text := range map[string]string{
		"aliases": bomb,
		"merges":  merges,
		"depth":   strings.Repeat("[", limits.JSONDepth+2) + strings.Repeat("]", limits.JSONDepth+2),
		"bytes":   strings.Repeat("#", limits.GordoConfig+1),
	} {
		_, err := Load([]byte(text))
		var e *Error
		if !errors.As(err, &e) || !e.Large {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"a: [1, yes, ~, 1:30, 2020-01-01T00:00:00Z]", "a: &x {b: *x}", "<<: {a: 1}", "? [a]\n: b", "!!set {a}", "!!omap [a: 1]", "- !!binary aGk=", "a: 0x_", "\tb", "%TAG ! x", "a: 0o7\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() (any, error){
			func() (any, error) { return Load([]byte(text)) },
			func() (any, error) { return LoadText(text) },
		} {
			v, err := read()
			if err != nil && v != nil {
				t.Errorf("a value beside an error: %v", err)
			}
		}
	})
}
