package command

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/cases"
)

// allowed are the cases that gordo refuses and runhook does not.
var allowed = map[string]deviation{
	"builder-env-empty-list":    {accepted, gordo.EmptyFine, "1.4: empty lists are fine"},
	"builder-env-configmap-bug": {accepted, gordo.ConfigMapValue, "1.4: configMapKeyRef takes name"},
	"flags-argo-bad-output":     {accepted, gordo.ArgoNotAsked, "1.7: the binary is asked only when --argo-binary is given"},
	"flags-argo-fails":          {accepted, gordo.ArgoNotAsked, "1.7: the binary is asked only when --argo-binary is given"},
	"model-unknown":             {accepted, gordo.ModelNotImported, "1.5: a model is checked for shape, not imported"},
	"model-unknown-in-pipeline": {accepted, gordo.ModelNotImported, "1.5: a model is checked for shape, not imported"},
}

// whereForm is a path of the config or a flag, as every refusal names one.
var whereForm = regexp.MustCompile(`(spec\.config[.\w\[\]"-]*|--[a-z-]+)`)

func TestEveryErrorIsRefusedWithItsPath(t *testing.T) {
	for _, name := range cases.Names(t, testdata, "error.txt") {
		t.Run(name, func(t *testing.T) {
			got := cases.Play(t, testdata, Generate(nil), name)
			if _, deviates := allowed[name]; deviates {
				if got.Err != nil {
					t.Errorf("was refused: %v", got.Err)
				}
				return
			}
			if got.Err == nil {
				t.Fatal("was accepted")
			}
			if !whereForm.MatchString(got.Err.Error()) && name != "flags-unknown" {
				t.Errorf("names no path: %v", got.Err)
			}
			if got.Out != "" {
				t.Errorf("printed %.100q all the same", got.Out)
			}
			t.Log(got.Err)
		})
	}
}

// TestModelsThatAreNotKnownAreWarnedOf: what is not imported is not passed over
// in silence, and strict refuses it.
func TestModelsThatAreNotKnownAreWarnedOf(t *testing.T) {
	for _, name := range []string{"model-unknown", "model-unknown-in-pipeline"} {
		if got := cases.Play(t, testdata, Normalize(), name); got.Err != nil || !strings.Contains(got.Warnings, "G009 spec.config.machines[0].model") {
			t.Errorf("%s: %v, %q", name, got.Err, got.Warnings)
		}
		if got := cases.Play(t, testdata, Normalize(), name, "--strict"); got.Err == nil {
			t.Errorf("%s was accepted by strict", name)
		}
	}
}

func TestAConfigThatIsNotThere(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "none.yaml"): "there is no config file",
		t.TempDir():                             "the config file can't be",
	} {
		c := Normalize()
		c.SetArgs([]string{path, "--project-name", "p"})
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCustomTemplate differs in one variable: Argo's version is not asked, so
// that it is 3 (G109).
func TestCustomTemplate(t *testing.T) {
	got := cases.Play(t, testdata, Generate(nil), "flags-custom-template")
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	var ours object
	if err := yaml.Unmarshal([]byte(got.Out), &ours); err != nil {
		t.Fatalf("%v in\n%s", err, got.Out)
	}
	want := list(t, expected(t, "flags-custom-template", "workflow.json"))[0]
	want["argo"] = "3"
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("-gordo +runhook:\n%s", diff)
	}
}
