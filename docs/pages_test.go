package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksLeadToFiles(t *testing.T) {
	pages, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	followed := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			followed++
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), match[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if followed == 0 {
		t.Error("no page has a link")
	}
}

// TestTheLayoutNamesEveryPackage holds CONTRIBUTING.md against the folders.
func TestTheLayoutNamesEveryPackage(t *testing.T) {
	blocks, err := Blocks(root, "CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for line := range strings.SplitSeq(blocks[0].Text, "\n") {
		if folder, ok := strings.CutPrefix(line, "  "); ok {
			name, _, _ := strings.Cut(folder, "/")
			named = append(named, name)
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "pkg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(named, entry.Name()) {
			t.Errorf("the layout lacks pkg/%s", entry.Name())
		}
	}
	for _, name := range named {
		if _, err := os.Stat(filepath.Join(root, "pkg", name)); err != nil {
			t.Errorf("the layout names %v", err)
		}
	}
}
