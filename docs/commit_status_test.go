package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event/commitstatus"
	"github.com/runhook/runhook/pkg/status"
)

func TestCommitStatusPageHasARightConfigAndEveryPhase(t *testing.T) {
	const page = "docs/commit-status.md"
	blocks, err := Blocks(root, page)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := parse(t, blocks[0].String(), []byte(blocks[0].Text))
	if len(c.Sinks) != 1 || c.Sinks[0].Type != config.SinkCommitStatus {
		t.Fatalf("it is not about the sink: %+v", c.Sinks)
	}
	if _, err := commitstatus.New(c.Sinks[0], c.StatusURL); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range status.Phases {
		if phase != status.Skipped && !strings.Contains(string(text), "| `"+string(phase)+"`") {
			t.Errorf("the page lacks %s", phase)
		}
	}
	for _, provider := range []string{"github", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket-server"} {
		if !strings.Contains(string(text), "`"+provider+"`") {
			t.Errorf("the page lacks %s", provider)
		}
	}
}
