package blockyaml

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var seeds = []string{
	`{"a":"b"}`, `{"a":[]}`, `{"a":{},"b":[{"c":1,"d":[["x"],[]]},"on",null,true,1.5e-7]}`, `["yes","12","1e3","a: b","- x","{{a}}","#","~"]`,
	`{"s":"set -e\n  x\n\ny\n","t":"a\nb","u":" a\n","v":"\ta\n","on":"é\n","":""}`, `"x"`, `5`, `[]`, `{"a":"\u003c\u2028\\n\""}`, `{"k":[[{"a":[1]}]]}`,
}

func check(t *testing.T, text []byte) {
	t.Helper()
	var want, got any
	if json.Unmarshal(text, &want) != nil {
		return
	}
	compact, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	written := Append(nil, compact, 0)
	if err := yaml.Unmarshal(written, &got); err != nil {
		t.Fatalf("%s\nbecame\n%s\n%v", compact, written, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nbecame\n%s\n%s", compact, written, diff)
	}
}

func TestYAMLMeansTheSame(t *testing.T) {
	for _, seed := range seeds {
		check(t, []byte(seed))
	}
}

func TestBlockStyle(t *testing.T) {
	got := string(Append(nil, []byte(`{"kind":"Workflow","spec":{"steps":[[{"name":"a","on":"no"}],[]],"source":"a\n b\n"}}`), 0))
	want := "kind: Workflow\nspec:\n  steps:\n  - - name: a\n      \"on\": \"no\"\n  - []\n  source: |\n    a\n     b\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzAppend(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, []byte(text)) })
}
