package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/gordo/cases"
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

// handed is a submitter that keeps what it was given.
type handed []Submission

func (h *handed) Flags(c *cobra.Command) { c.Flags().String("server", "", "") }

func (h *handed) Submit(_ *cobra.Command, s Submission) error {
	*h = append(*h, s)
	return nil
}

func TestSubmitHandsOnWhatWasGiven(t *testing.T) {
	var submitted handed
	got := cases.Play(t, testdata, Generate(&submitted), "flags-split-2", "--submit", "--project-revision", "7", "--with-keda=false", "-o", "json", "--server", "x")
	if got.Err != nil || got.Out != "" || len(submitted) != 1 {
		t.Fatalf("%+v, submitted %v", got, submitted)
	}
	s := submitted[0]
	config, err := os.ReadFile(filepath.Join(testdata, "cases", "flags-split-2", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := Submission{Config: config, Project: "proj-a", Revision: "7", Output: "json", Options: map[string]string{"split-workflows": "2", "with-keda": "false"}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if Generate(nil).Flags().Lookup("submit") != nil {
		t.Error("there is a flag --submit without a submitter")
	}
}

func TestSubmitWithoutARevisionLeavesItToTheFunction(t *testing.T) {
	var submitted handed
	if got := cases.Play(t, testdata, Generate(&submitted), "basic-no-flags", "--submit"); got.Err != nil || submitted[0].Revision != "" {
		t.Errorf("%+v, submitted %+v", got, submitted)
	}
	for _, flag := range []string{"--output-file", "--workflow-template"} {
		if got := cases.Play(t, testdata, Generate(&submitted), "basic-no-flags", "--submit", flag, "x"); got.Err == nil || !strings.Contains(got.Err.Error(), flag) {
			t.Errorf("%s: %v", flag, got.Err)
		}
	}
	if len(submitted) != 1 {
		t.Errorf("submitted %d", len(submitted))
	}
}
