package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/cli"
	"github.com/runhook/runhook/pkg/status"
)

var ofARun = regexp.MustCompile(`name: (RUNHOOK_[A-Z_]+)`)

func TestRunsPageHasEveryVariableAndPhase(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/runs.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out, complaint bytes.Buffer
	code := cli.Run(t.Context(), []string{"render", "-f", filepath.Join(root, "docs/examples/run.yaml")},
		cli.System{Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &complaint})
	if code != 0 {
		t.Fatal(&complaint)
	}
	rendered := map[string]bool{}
	for _, match := range ofARun.FindAllStringSubmatch(out.String(), -1) {
		name := match[1]
		if strings.HasPrefix(name, "RUNHOOK_PARAM_") {
			name = "RUNHOOK_PARAM_<NAME>"
		}
		rendered[name] = true
		if !strings.Contains(string(text), "\n| `"+name+"` |") {
			t.Errorf("the page lacks %s", name)
		}
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `(RUNHOOK_[^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		if !rendered[match[1]] {
			t.Errorf("no task sees %s", match[1])
		}
	}
	for _, phase := range status.Phases {
		if !strings.Contains(string(text), "\n| `"+string(phase)+"` |") {
			t.Errorf("the page lacks %s", phase)
		}
	}
}
