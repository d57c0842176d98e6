package strict_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

func TestYAMLMistakes(t *testing.T) {
	tests := []struct {
		name, yaml string
		kind       fault.Kind
		want       string
	}{
		{"unknown key", "name: a\ntasks:\n- id: x\n- id: y\n  resources:\n    memroy: 1Gi\n", fault.Invalid,
			"not what is asked for: tasks[1].resources.memroy: run.yaml:6: unknown key; known are cpu, memory"},
		{"all at once", "name: 1.10\nreserved: yes\nextra: 1\n", fault.Invalid,
			"not what is asked for: extra: run.yaml:3: unknown key; known are tasks, deadline, small, count, ratio, reserved, any, raw, volumes, number, quoted, Plain, name; " +
				"name: run.yaml:1: text is asked for, not a number; put it in quotes; " +
				"reserved: run.yaml:2: true or false is asked for, not text"},
		{"key given twice", "name: a\nsmall: 1\nname: b\n", fault.Malformed, "not what is asked for: name: run.yaml:3: the key is given twice"},
		{"second document", "name: a\n---\nname: b\n", fault.Malformed, "run.yaml:2: a second document; one is read"},
		{"syntax", "name: a\n b: [\n", fault.Malformed, "run.yaml:2: mapping values are not allowed in this context"},
		{"merge key", "any: &a {x: 1}\nraw:\n  <<: *a\n", fault.Malformed,
			"run.yaml:3: the merge key << is not read; write the keys out, or use an alias for the whole value"},
		{"key that is no text", "any: {[a]: b}\n", fault.Malformed, "run.yaml:1: a key must be text"},
		{"nan", "ratio: .nan\n", fault.Malformed, "run.yaml:1: .nan is no number of JSON"},
		{"tag", "any: !!binary aGk=\n", fault.Malformed, "run.yaml:1: the tag !!binary is not read"},
		{"own tag", "any: !run a\n", fault.Malformed, "run.yaml:1: the tag !run is not read"},
		{"forged number", "any: !!int '{\"x\":1}'\n", fault.Malformed, `run.yaml:1: {"x":1} is not of the type !!int`},
		{"empty", "", fault.Invalid, "not what is asked for: run.yaml:1: an object is asked for, not null"},
		{"comment alone", "# nothing\n", fault.Invalid, "not what is asked for: run.yaml:1: an object is asked for, not null"},
		{"mistake behind an alias", "tasks:\n- &a\n  ids: x\n- *a\n", fault.Invalid,
			"not what is asked for: tasks[0].ids: run.yaml:3: unknown key; known are id, command, env, resources, split; " +
				"tasks[1].ids: run.yaml:3: unknown key; known are id, command, env, resources, split"},
		{"key with dots", "tasks:\n- env:\n    a.b/c:\n      sel: x\n", fault.Invalid,
			`not what is asked for: tasks[0].env["a.b/c"].sel: run.yaml:4: unknown key; known are cel`},
		{"alias in itself", "any: &a [*a]\n", fault.Malformed, "run.yaml:1: nested deeper than 64 levels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var into document
			err := strict.YAML("run.yaml", []byte(test.yaml), &into)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if fault.KindOf(err) != test.kind {
				t.Errorf("kind %q, want %q", fault.KindOf(err), test.kind)
			}
		})
	}
}

func TestYAMLBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 lol\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	cycle := "any: &a [" + strings.Repeat("*a,", 100) + "*a]\n"
	deep := "any: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for name, text := range map[string]string{"laughs": laughs.String(), "cycle": cycle, "deep": deep} {
		t.Run(name, func(t *testing.T) {
			var into any
			if err := strict.YAML("bomb.yaml", []byte(text), &into); fault.KindOf(err) != fault.Malformed {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestYAMLAsJSON(t *testing.T) {
	text := `
on: push
1: a
sha: 0123456
"null": ~
float: 1.10
big: 12345678901234567890123
hex: 0x1F
under: 1_000
when: 2024-01-02
off: off
text: "tab\t<&>"
anchor: &a {x: [1, true]}
alias: *a
block: |
  a
  b
`
	document, err := strict.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"on":"push","1":"a","sha":42798,"null":null,"float":1.10,"big":12345678901234567890123,"hex":31,"under":1000,` +
		`"when":"2024-01-02","off":"off","text":"tab\t\u003c\u0026\u003e","anchor":{"x":[1,true]},"alias":{"x":[1,true]},"block":"a\nb\n"}`
	if diff := cmp.Diff(want, string(document.JSON())); diff != "" {
		t.Error(diff)
	}
	if got := document.Where("alias.x[1]"); got != "x.yaml:13" {
		t.Error(got)
	}
	if got := document.Where("alias.y.z"); got != "x.yaml:14" {
		t.Error(got)
	}
	var raw json.RawMessage
	if err := document.Decode(&raw); err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestLocateKeepsTheKind(t *testing.T) {
	document, err := strict.Parse("c.yaml", []byte("a:\n  b: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if document.Locate(nil) != nil {
		t.Error("nil is no mistake")
	}
	var list fault.List
	list.Add("a.b.c", "wrong")
	located := document.Locate(list.Err(fault.Conflict, "bad"))
	if located.Error() != "bad: a.b.c: c.yaml:2: wrong" || fault.KindOf(located) != fault.Conflict {
		t.Error(located)
	}
	if got := document.Locate(fault.New(fault.Invalid, "bad")).Error(); got != "c.yaml: bad" {
		t.Error(got)
	}
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		"name: a", "a: &a [*a]", "? [a]\n: b", "<<: {a: 1}", "--- a\n--- b", "!!int 'x'", "{", "tasks:\n- id: 1", "a: 1\na: 2", "\xff", "&a *a", "- .inf",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into document
		_ = strict.YAML("f.yaml", data, &into)
		d, err := strict.Parse("f.yaml", data)
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(d.JSON()) {
			t.Fatalf("no JSON: %s", d.JSON())
		}
		if len(d.JSON()) > limits.YAMLBytes+6*len(data)+64 {
			t.Fatalf("%d bytes of JSON from %d of YAML", len(d.JSON()), len(data))
		}
	})
}
