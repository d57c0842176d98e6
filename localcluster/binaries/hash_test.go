package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHashDependsOnAllAndOnlyThat(t *testing.T) {
	base := map[string]string{"go.mod": "m", "pause/main.go": "p"}
	hash := func(files map[string]string, version string, flags ...string) string {
		h, err := Hash(module(t, files), version, flags)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash(base, "go1", "-a", "-b")
	if again := hash(base, "go1", "-a", "-b"); again != first {
		t.Errorf("the same module in another folder: %s, then %s", first, again)
	}
	for name, other := range map[string]string{
		"content":       hash(map[string]string{"go.mod": "n", "pause/main.go": "p"}, "go1", "-a", "-b"),
		"file name":     hash(map[string]string{"go.mod": "m", "pause/pain.go": "p"}, "go1", "-a", "-b"),
		"one file more": hash(map[string]string{"go.mod": "m", "pause/main.go": "p", "x": ""}, "go1", "-a", "-b"),
		"version":       hash(base, "go2", "-a", "-b"),
		"flags":         hash(base, "go1", "-a"),
		"joined flags":  hash(base, "go1", "-a-b"),
	} {
		if other == first {
			t.Errorf("another %s has the same hash", name)
		}
	}
}

func TestHashOfNoModule(t *testing.T) {
	if _, err := Hash(filepath.Join(t.TempDir(), "none"), "go1", nil); err == nil {
		t.Error("a module that is not there was hashed")
	}
}

func TestVersionsAreLinkedIn(t *testing.T) {
	flags := linked()
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=" + KubernetesVersion,
		"-X sigs.k8s.io/kueue/pkg/version.GitVersion=" + KueueVersion,
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is not among the linker's flags", want)
		}
	}
}

func TestGiteasVersionIsItsModules(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "gitea", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "require " + gitea + " " + GiteaVersion; !strings.Contains(string(mod), want) {
		t.Errorf("the module does not say %q", want)
	}
}

// The versions that name images are those that the module pins.
func TestVersionsAreTheModules(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "build", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"k8s.io/kubernetes " + KubernetesVersion, argoWorkflows + " " + ArgoWorkflowsVersion,
		argoEvents + " " + ArgoEventsVersion, kueue + " " + KueueVersion,
		"github.com/moby/buildkit " + BuildKitVersion,
	} {
		if !strings.Contains(string(mod), "\t"+want) {
			t.Errorf("the build module does not require %s", want)
		}
	}
}
