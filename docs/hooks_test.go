package docs

import (
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
