package image

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

var settings = Settings{
	Registry: Registry{Host: "reg.lab:5000", Auth: "registry-auth"},
	Address:  "tcp://buildkitd:1234",
	Image:    "reg.lab:5000/buildctl:1",
	Timeout:  30 * time.Minute,
	Hosts:    hosts,
}

func golden(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

func TestJobOfGit(t *testing.T) {
	build := Build{
		Ref:  parse(t, "reg.lab:5000/acme/pump:v2"),
		Git:  &Git{URL: "https://git.lab/acme/pump.git", SHA: sha, Path: "model"},
		Args: Args{"VERSION": "2", "MESSAGE": "$(HOME) `id`; \"x\" $$"},
	}
	golden(t, "job-git", settings.Job(build, "ci"))
}

func TestJobOfFiles(t *testing.T) {
	plain := settings
	plain.Registry = Registry{Host: "reg.lab:5000", PlainHTTP: true}
	build := Build{
		Ref:   parse(t, "reg.lab:5000/acme/pump"),
		Files: Files{Dockerfile: File("FROM scratch\nCOPY model.bin /\n"), "model.bin": {0xff, 0, 1}, ".dockerignore": nil},
	}
	job := plain.Job(build, "hook:acme/train")
	golden(t, "job-files", job)
	job.UID = types.UID("0d1f")
	golden(t, "configmap", ConfigMap(build, job))
}

func TestShellReadsNothingOfTheCaller(t *testing.T) {
	hostile := "'\"; $(reboot) `reboot` && {{x}} \n"
	build := Build{Ref: parse(t, "reg.lab:5000/x:1"), Files: Files{Dockerfile: nil}, Args: Args{"A": hostile}}
	c := settings.Pod(build).Containers[0]
	if strings.Contains(strings.Join(c.Command, " "), "reboot") {
		t.Errorf("the shell's script holds a caller's text: %q", c.Command)
	}
	// As Kubernetes expands it: $$ is $, and no $(…) is left.
	seen := false
	for _, arg := range c.Args {
		if strings.Contains(strings.ReplaceAll(arg, "$$", ""), "$") {
			t.Errorf("Kubernetes would expand %q", arg)
		}
		seen = seen || strings.ReplaceAll(arg, "$$", "$") == "build-arg:A="+hostile
	}
	if !seen {
		t.Errorf("the argument does not arrive as it was: %q", c.Args)
	}
}
