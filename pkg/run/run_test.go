package run

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

var update = flag.Bool("update", false, "write what is given to testdata")

// policy is what the tests' runs may use.
var policy = Policy{
	Priorities:  []string{"high", "normal"},
	Resources:   corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
	VolumeKinds: []string{"persistentVolumeClaim", "emptyDir", "secret", "projected", "azureFile", "csi", "ephemeral"},
	Claims:      []string{"runs"},
	Secrets:     []string{"wandb"},
	Registry:    image.Registry{Host: "registry"},
	GitHosts:    image.GitHosts{TLS: []string{"git.lab"}},
}

// parse decodes a run that is written as YAML.
func parse(t *testing.T, text string) *Run {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// problems are `path: detail` of an error.
func problems(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		t.Fatalf("not an Invalid fault: %v", err)
	}
	texts := make([]string, len(f.Problems))
	for i, p := range f.Problems {
		texts[i] = p.String()
	}
	return texts
}

func TestTheContractsExampleIsFine(t *testing.T) {
	text, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := parse(t, string(text))
	if err := r.Check(policy); err != nil {
		t.Error(err)
	}
	if got := r.Tasks[1].Env["SEED"].Text + r.Env["TOKEN"].Secret.Key; got != "7token" {
		t.Errorf("env reads %q", got)
	}
	filled := r.Fill(policy)
	merge := filled.Tasks[1].Split.Merge
	if merge.Image != r.Image || len(merge.Mounts) != 1 || merge.Env["SEED"].Text != "7" {
		t.Errorf("the merge has not what its task has: %+v", merge)
	}
	if r.Tasks[1].Image != "" || r.Tasks[1].Split.Merge.Image != "" {
		t.Error("Fill changed the run it was given")
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		`{"tasks":[{"id":"a","comand":[]}]}`:                        "tasks[0].comand",
		`{"tasks":[{"id":7}]}`:                                      "tasks[0].id",
		`{"tasks":[{"id":"a","env":{"A":1}}]}`:                      "tasks[0].env.A",
		`{"tasks":[{"id":"a","env":{"A":{"secret":"s","kee":1}}}]}`: "tasks[0].env.A.kee",
		`{"tasks":[{"id":"a","resources":{"memory":[]}}]}`:          "tasks[0].resources.memory",
		`{"tasks":[{"id":"a","split":{"merge":{"id":"x"}}}]}`:       "tasks[0].split.merge.id",
		`{"deadline":3600}`:                                         "deadline",
		`{"params":{"n":1}}`:                                        "params.n",
	} {
		_, err := Decode([]byte(text))
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Problems) != 1 || f.Problems[0].Path != want {
			t.Errorf("%s: want a problem at %s, got %v", text, want, err)
		}
	}
}

func TestCheckTellsEveryMistake(t *testing.T) {
	text, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(problems(t, parse(t, string(text)).Check(policy)), "\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/mistakes.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
