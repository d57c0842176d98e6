package jinja

import (
	"strings"
	"testing"
)

func render(text string, variables map[string]any) (string, error) {
	t, err := Parse(text)
	if err != nil {
		return "", err
	}
	return t.Render(variables)
}

func TestTemplates(t *testing.T) {
	variables := map[string]any{
		"name": "proj", "machines": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}},
		"resources": map[string]any{"limits": map[string]any{"cpu": 5}},
	}
	for text, want := range map[string]string{
		"who: {{ name }}\n":                                             "who: proj\n",
		"{{ machines|map(attribute='name')|list }}":                     "['a', 'b']",
		"{% for m in machines %}{{ m.name }};{% endfor %}":              "a;b;",
		"{{ resources | tojson }}":                                      `{"limits":{"cpu":5}}`,
		"{{ resources | yaml }}":                                        "limits:\n  cpu: 5",
		"{% if name is defined and other is not defined %}x{% endif %}": "x",
	} {
		got, err := render(text, variables)
		if err != nil || strings.ReplaceAll(got, `": `, `":`) != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for _, text := range []string{
		"{{ missing }}", "{{ open", "{% for %}", "{{ name.missing }}", "{{ name | nofilter }}",
		"{% include '/etc/passwd' %}", "{% extends '/etc/passwd' %}", "{% import '/etc/hostname' as x %}", "{{ name | yaml(1) }}",
	} {
		if got, err := render(text, map[string]any{"name": "x"}); err == nil {
			t.Errorf("%s rendered as %q", text, got)
		} else if !strings.HasPrefix(err.Error(), "--workflow-template: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
