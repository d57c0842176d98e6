package yaml11

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
)

// machines is a config of small machines, each with something of its own.
func machines(indent string, bodies ...string) string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "%s- name: m%d\n", indent, i)
		for _, body := range bodies {
			fmt.Fprintf(&b, "%s  %s\n", indent, strings.ReplaceAll(body, "\n", "\n"+indent+"  "))
		}
	}
	return b.String()
}

// TestBatchesReadTheSame reads in batches of a few bytes and at once.
func TestBatchesReadTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		batched bool
	}{
		"plain":         {"machines:\n" + machines("  ", "model: a", "tags: [x, y]"), true},
		"no indent":     {"globals: {a: 1}\nmachines: # all\n\n" + machines("", "model: a") + "other: 2\n", true},
		"resource":      {"spec:\n  config:\n    machines:\n" + machines("      ", "note: |\n  - text\n  more") + "    globals: {}\n", true},
		"comments":      {"machines:\n" + machines("  ", "# - no item", "a: 1  # - nor this"), true},
		"windows":       {"machines:\r\n" + strings.ReplaceAll(machines("  ", "a: 1"), "\n", "\r\n"), true},
		"anchors near":  {"machines:\n" + machines("  ", "a: &x [1]", "b: *x"), true},
		"anchors far":   {"base: &x [1]\nmachines:\n" + machines("  ", "a: *x"), false},
		"flow":          {"machines: [" + strings.Repeat("{name: a}, ", 20) + "]\n", false},
		"open quote":    {"machines:\n" + machines("  ", "a: \"x\n- y\""), true},
		"cut quote":     {"machines:\n  - a: \"x\n  - y\n  - z\"\n" + machines("  "), false},
		"twice":         {"machines:\n" + machines("  ") + "machines: [1]\n", false},
		"in a text":     {"note: |\n  machines:\n" + machines("  ") + "machines: [1]\n", false},
		"a dash alone":  {"machines:\n" + machines("  ") + "  -\n    name: z\n", false},
		"two documents": {"machines:\n" + machines("") + "---\na: 1\n", false},
		"wrong":         {"machines:\n" + machines("  ", "a: 2020-01-01"), false},
		"tab":           {"machines:\n" + machines("  ") + "\t- name: x\n", false},
		"none":          {"machines:\n", false},
	} {
		t.Run(name, func(t *testing.T) { same(t, test.text, test.batched) })
	}
}

func same(t *testing.T, text string, want bool) {
	t.Helper()
	got, ok := batched([]byte(text), 8)
	if ok != want {
		t.Fatalf("batched: %v", ok)
	}
	whole, err := load([]byte(text), true)
	if ok && (err != nil || !table.Same(got, whole)) {
		t.Errorf("%s\nin batches: %s\nat once:    %s, %v", text, table.JSON(t, got), table.JSON(t, whole), err)
	}
}

func FuzzBatches(f *testing.F) {
	for _, indent := range []string{"", "  "} {
		f.Add("machines:\n" + machines(indent, "a: 'b'", "c: [1, {d: *e}]", "f: |\n  - g"))
	}
	f.Add("a: &x 1\nmachines:\n- b: \"\n- c\"\n- d: *x\n- !!set {e}\n- <<: {f: 1}\nspec: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := batched([]byte(text), 4); ok {
			whole, err := load([]byte(text), true)
			if err != nil || !table.Same(got, whole) {
				t.Errorf("%q: in batches %v, at once %v, %v", text, got, whole, err)
			}
		}
	})
}
