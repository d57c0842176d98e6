package openapi_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/openapi"
)

func document(t *testing.T) ([]function.Function, *openapi3.T) {
	t.Helper()
	c := config.Default()
	table, err := functions.New(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(openapi.New(table.All(), "test", nil))
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return table.All(), d
}

func TestTheDocumentIsValid(t *testing.T) {
	all, d := document(t)
	if err := d.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for _, f := range all {
		path := d.Paths.Value("/functions/" + f.Name)
		if path == nil || path.Post == nil || (path.Get != nil) != f.Reads {
			t.Errorf("%s is not described with its methods", f.Name)
		}
	}
}

// body gives the schema of a function's request.
func body(d *openapi3.T, name string) *openapi3.Schema {
	return d.Paths.Value("/functions/" + name).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
}

func TestRequestsFitTheirSchema(t *testing.T) {
	_, d := document(t)
	for name, requests := range map[string]map[bool][]string{
		"submit": {
			true: {
				`{"tasks": [{"id": "fit", "resources": {"cpu": 4, "memory": "8Gi"}, "env": {"A": "x", "B": {"secret": "s", "key": "k"}}}]}`,
				`{"id": "a", "volumes": [{"name": "v", "emptyDir": {}}], "tasks": [{"id": "fit", "split": {"workers": 2, "merge": {"command": ["x"]}}}]}`,
			},
			false: {`{}`, `{"tasks": [{"id": "fit"}], "unknown": 1}`, `{"tasks": [{"id": "fit", "env": {"A": 1}}]}`, `{"tasks": [{"id": 1}]}`, `{"tasks": [{"id": "fit", "split": {"worker": 2}}]}`},
		},
		"build-image": {
			true:  {`{"ref": "r", "files": {"Dockerfile": "FROM x", "b": {"base64": "AA=="}}}`},
			false: {`{"ref": "r", "files": {"Dockerfile": 1}}`, `{"files": {}}`},
		},
		"logs": {true: {`{"run": "r", "task": "t", "tail": 3}`}, false: {`{"run": "r", "task": "t", "tail": "3"}`}},
		"push": {true: {`{"hook": "h", "event": "push", "payload": {"any": ["thing"]}}`}, false: {`{"hook": "h", "event": "push"}`}},
	} {
		for fits, list := range requests {
			for _, text := range list {
				var request any
				if err := json.Unmarshal([]byte(text), &request); err != nil {
					t.Fatal(err)
				}
				if err := body(d, name).VisitJSON(request, openapi3.EnableJSONSchema2020()); (err == nil) != fits {
					t.Errorf("%s %s: %v", name, text, err)
				}
			}
		}
	}
}

func TestDescriptionsComeFromOutside(t *testing.T) {
	c := config.Default()
	table, err := functions.New(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := openapi.New(table.All(), "test", func(f openapi.Field) string {
		return f.Owner.Name() + "." + f.GoName
	})
	if got := d.Components.Schemas["run.Task"].Properties["command"].Description; got != "Program.Command" {
		t.Errorf("the field of an embedded struct is described as %q", got)
	}
	if required := d.Components.Schemas["run.Task"].Required; !slices.Equal(required, []string{"id"}) {
		t.Errorf("a task must have %v", required)
	}
}
