package gordo

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/yaml11"
)

// TestDocuments checks the first step of loading: the file and what of it is
// the config. An empty config is refused one step later.
func TestDocuments(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "yaml_documents") {
		name := row.At("name").(string)
		v, err := yaml11.Load([]byte(row.At("text").(string)))
		if err == nil {
			v, err = unwrap(v)
		}
		switch name {
		case "empty", "comment only", "null", "scalar with spec inside", "list with spec":
			if _, err := Load([]byte(row.At("text").(string))); err == nil {
				t.Errorf("%s was accepted", name)
			}
		default:
			check(t, row, name, v, err != nil)
		}
	}
}

// TestTimestampsOfADataset checks where a timestamp ends up: as the start of a
// dataset that is written in the file, and of one that is written as text.
func TestTimestampsOfADataset(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "timestamps") {
		text := row.At("text").(string)
		plain := "{train_start_date: " + text + "}"
		start(t, row.MapAt("dataset_from_top"), text, plain)
		start(t, row.MapAt("dataset_from_nested"), text, "|\n     "+strings.Trim(plain, "{}")+"\n")
	}
}

func start(t *testing.T, row *py.Map, text, dataset string) {
	t.Helper()
	c, err := Load([]byte("machines:\n - name: a\n   dataset: " + dataset + "\n"))
	var at py.Time
	if err == nil {
		r := &report{}
		at, _ = r.instant("", c.Machines[0].MapAt("dataset"), "train_start_date")
		err = r.err()
	}
	check(t, row, text, at.ISO(), err != nil)
}

// TestOwnerReferences leaves out the row of a text that holds all four words,
// which would be no owner reference (rule 2). What is no text becomes text.
func TestOwnerReferences(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "owner_references") {
		input := row.At("input").(string)
		got, warnings, err := parseOwners(input)
		if input == "['uid name kind apiVersion']" {
			row = py.MapOf("error", "rule 2")
		}
		if _, bad := row.Get("error"); bad != (err != nil) {
			t.Errorf("%q: %v", input, err)
			continue
		} else if bad {
			continue
		}
		want := row.At("result").([]any)[0].(*py.Map)
		for key, value := range map[string]string{"uid": string(got[0].UID), "name": got[0].Name, "kind": got[0].Kind, "apiVersion": got[0].APIVersion} {
			if value != py.Text(want.At(key)) {
				t.Errorf("%q: %s is %q", input, key, value)
			}
		}
		if len(warnings) == 0 || warnings[0].Code != ReferenceText || !strings.HasPrefix(warnings[0].Path, "--owner-references[0].") {
			t.Errorf("%q: warnings %v", input, warnings)
		}
	}
}
