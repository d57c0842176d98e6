package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/openapi"
)

func TestHooksPageHasEveryProviderFieldAndReason(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := func(title string) string {
		_, after, found := strings.Cut(string(text), "\n## "+title+"\n")
		if !found {
			t.Fatalf("there is no section %q", title)
		}
		section, _, _ := strings.Cut(after, "\n## ")
		return section
	}
	has := func(section, name string) {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the page lacks `%s`", name)
		}
	}
	for provider := range hook.Providers {
		has(section("Who sends, and how it is proven"), provider)
	}
	for _, field := range openapi.Fields(reflect.TypeFor[hook.Event]()) {
		has(section("What a route sees"), field.Name)
	}
	for _, reason := range hook.Reasons {
		has(section("Why was my push ignored"), string(reason))
	}
}

// TestEveryCELExampleCompiles reads the expressions of the table of functions.
func TestEveryCELExampleCompiles(t *testing.T) {
	_, table, found := strings.Cut(string(read(t, "docs/hooks.md")), "\n| | for example |\n|---|---|\n")
	if !found {
		t.Fatal("the page has no table of functions")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			t.Fatalf("not a row: %s", line)
		}
		for _, expression := range words(cells[1]) {
			when, err := json.Marshal("dyn(" + expression + ") == dyn(" + expression + ")")
			if err != nil {
				t.Fatal(err)
			}
			parse(t, expression, fmt.Appendf(nil, `{namespace: runs, hooks: [{path: acme, provider: github, secret: {env: GITHUB_SECRET},
				routes: [{name: train, function: cancel, when: %s, set: {run: event.sha}}]}]}`, when))
		}
	}
}
