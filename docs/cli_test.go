package docs

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/status"
)

// recorded reads a Workflow as `status -f` does.
func recorded(t *testing.T, file string) {
	if _, _, err := status.ReadRun(file, read(t, file), ""); err != nil {
		t.Error(err)
	}
}

// podsSeen reads pods as `--pods` does.
func podsSeen(t *testing.T, file string) {
	if pods, err := status.ReadPods(file, read(t, file)); err != nil || len(pods) == 0 {
		t.Errorf("%d pods, %v", len(pods), err)
	}
}

// TestTheCommandLineSaysWhatIsShown compares the output of a block of cli.md
// with the text that stands below it.
func TestTheCommandLineSaysWhatIsShown(t *testing.T) {
	t.Chdir(root)
	blocks, err := Blocks(".", "docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, below := range blocks {
		if below.Language() != "text" {
			continue
		}
		compared++
		var out bytes.Buffer
		shell, err := NewShell(".", nil, &out, shown)
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Run(t.Context(), blocks[i-1]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(below.Text, out.String()); diff != "" {
			t.Errorf("%s (-shown +said):\n%s", below, diff)
		}
	}
	if compared == 0 {
		t.Error("the page shows no output")
	}
}
