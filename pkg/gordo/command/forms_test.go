package command

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/gordo/internal/cases"
	"github.com/runhook/runhook/pkg/gordo/workflow"
)

// TestYAMLAndJSONSayTheSame, with a separator between the documents.
func TestYAMLAndJSONSayTheSame(t *testing.T) {
	asYAML := cases.Play(t, testdata, Generate(nil), "flags-split-2")
	asJSON := cases.Play(t, testdata, Generate(nil), "flags-split-2", "-o", "json")
	if asYAML.Err != nil || asJSON.Err != nil {
		t.Fatal(asYAML.Err, asJSON.Err)
	}
	var got []any
	for text := range strings.SplitSeq(asYAML.Out, "---\n") {
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		got = append(got, document)
	}
	if diff := cmp.Diff(decode(t, []byte(asJSON.Out)), any(got)); diff != "" {
		t.Error(diff)
	}
}

func TestNormalizeInYAML(t *testing.T) {
	got := cases.Play(t, testdata, Normalize(), "basic", "-o", "yaml")
	text, err := yaml.YAMLToJSON([]byte(got.Out))
	if err != nil || got.Err != nil {
		t.Fatal(err, got.Err)
	}
	if diff := cmp.Diff(expected(t, "basic", "normalized.json"), decode(t, text)); diff != "" {
		t.Error(diff)
	}
	if bad := cases.Play(t, testdata, Normalize(), "basic", "-o", "xml"); bad.Err == nil || !strings.HasPrefix(bad.Err.Error(), "--output: ") {
		t.Errorf("%v", bad.Err)
	}
}

// TestFlagsWinOverVariables: what is given explicitly counts.
func TestFlagsWinOverVariables(t *testing.T) {
	t.Setenv("WORKFLOW_GENERATOR_PROJECT_REVISION", "1")
	t.Setenv("WORKFLOW_GENERATOR_WITHOUT_PROMETHEUS", "yes")
	got := cases.Play(t, testdata, Generate(nil), "basic-no-flags", "--project-revision", "2", "--without-prometheus=false")
	if got.Err != nil || !strings.Contains(got.Out, "generateName: proj-a-2-\n") || !strings.Contains(got.Out, "--with-prometheus-config") {
		t.Errorf("%v: %.300s", got.Err, got.Out)
	}
}

func TestStrictAndNothingMade(t *testing.T) {
	if got := cases.Play(t, testdata, Generate(nil), "flags-split-negative"); got.Err != nil || got.Out != "" || !strings.Contains(got.Warnings, "G013 --split-workflows") {
		t.Errorf("%+v", got)
	}
	if got := cases.Play(t, testdata, Generate(nil), "flags-split-negative", "--strict"); got.Err == nil {
		t.Error("strict let it pass")
	}
}

// names is a submitter that keeps what it was given.
type names []string

func (n *names) Submit(_ context.Context, d *workflow.Document) (string, error) {
	w, err := d.Submitted()
	if err != nil {
		return "", err
	}
	*n = append(*n, w.Name)
	return w.Name + " created", nil
}

func TestSubmit(t *testing.T) {
	var submitted names
	var out bytes.Buffer
	c := Generate(&submitted)
	c.SetOut(&out)
	c.SetArgs([]string{filepath.Join(testdata, "cases", "flags-split-2", "config.yaml"), "--project-name", "p", "--split-workflows", "3", "--submit", "--project-revision", "7"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "p-7-0 created\np-7-1 created\n" || len(submitted) != 2 {
		t.Errorf("printed %q, submitted %v", out.String(), submitted)
	}
	if Generate(nil).Flags().Lookup("submit") != nil {
		t.Error("there is a flag --submit without a submitter")
	}
}

// TestSubmitNamesTheRevisionByTheConfig: the same config twice has one name.
func TestSubmitNamesTheRevisionByTheConfig(t *testing.T) {
	var submitted names
	for range 2 {
		c := Generate(&submitted)
		c.SetOut(&bytes.Buffer{})
		c.SetArgs([]string{filepath.Join(testdata, "cases", "basic", "config.yaml"), "--project-name", "p", "--submit"})
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
	}
	if len(submitted) != 2 || submitted[0] != submitted[1] || len(submitted[0]) != len("p-0123456789ab-0") {
		t.Errorf("submitted %v", submitted)
	}
}
