package generate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/yaml11"
)

func TestWhatANewRevisionReplaces(t *testing.T) {
	at := func(name, revision string, second int64) made {
		return made{name: name, revision: revision, created: time.Unix(second, 0)}
	}
	over := at("over", "1", 1)
	over.ended = true
	for name, tc := range map[string]struct {
		project  []made
		revision string
		want     []string
	}{
		"alone":                       {[]made{at("own", "2", 5)}, "2", nil},
		"older":                       {[]made{at("old", "9", 4), at("own", "2", 5)}, "2", []string{"old"}},
		"newer":                       {[]made{at("own", "2", 5), at("new", "1", 6)}, "2", nil},
		"ended":                       {[]made{over, at("own", "2", 5)}, "2", nil},
		"in one second, sorts first":  {[]made{at("own", "2", 5), at("other", "1", 5)}, "2", []string{"other"}},
		"in one second, sorts behind": {[]made{at("own", "2", 5), at("other", "3", 5)}, "2", nil},
		"parts of the own revision":   {[]made{at("own-0", "2", 5), at("own-1", "2", 7), at("between", "1", 6)}, "2", nil},
		"all parts of an older one":   {[]made{at("a-0", "1", 3), at("a-1", "1", 4), at("own", "2", 5)}, "2", []string{"a-0", "a-1"}},
		"the own is gone":             {[]made{at("old", "1", 3)}, "2", nil},
	} {
		if diff := cmp.Diff(tc.want, replaced(tc.project, tc.revision)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Whoever asks, of two exactly one gives way.
	pair := []made{at("a", "1", 5), at("b", "2", 5)}
	if a, b := replaced(pair, "1"), replaced(pair, "2"); len(a)+len(b) != 1 {
		t.Errorf("%v and %v", a, b)
	}
}

func TestAnObjectIsReadAsItsJSON(t *testing.T) {
	for config, text := range map[string]string{
		`{"b": [1, -2.5, 1e3, 2.5E-7], "a": {}}`:                            `{"b": [1, -2.5, 1000.0, 0.00000025], "a": {}}`,
		`{"t": "\ud83d\ude00 \/ \u00fc", "on": "on", "n": null, "y": true}`: `{"t": "😀 / ü", "on": "on", "n": null, "y": true}`,
		`[[], [[]], {"a": [{"b": 1}, 2]}]`:                                  `[[], [[]], {"a": [{"b": 1}, 2]}]`,
		`"a: on"`:                                                           `{a: true}`,
	} {
		written, err := yamlOf([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml11.Load(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		want, err := yaml11.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asText(t, want), asText(t, got)); diff != "" {
			t.Errorf("%s: %s", config, diff)
		}
	}
}

func FuzzYAMLOf(f *testing.F) {
	for _, seed := range []string{`{"a": [1e9, "\ud800"]}`, `"x"`, `[`, `{}{}`, `null`, `{"a": {"b": [true, false]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		if text, err := yamlOf(config); err == nil {
			_, _ = yaml11.Load(text)
		}
	})
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := (&py.Writer{}).Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
