package gordo

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestEveryCodeIsExplained: each code has one row of docs/gordo.md, and each
// row is of a code.
func TestEveryCodeIsExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/gordo.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []Code
	for _, row := range regexp.MustCompile(`(?m)^\| (G\d{3}) \| \S`).FindAllSubmatch(page, -1) {
		rows = append(rows, Code(row[1]))
	}
	if want := slices.Sorted(slices.Values(Codes)); !slices.Equal(rows, want) {
		t.Errorf("the page explains\n%v, the code has\n%v", rows, want)
	}
	for name, text := range declared(t) {
		if !slices.Contains(Codes, Code(text)) {
			t.Errorf("%s = %s is missing in Codes", name, text)
		}
	}
}

// declared are the codes as the source declares them.
func declared(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)\s+Code = "(G\d{3})"`).FindAllSubmatch(source, -1) {
		found[string(m[1])] = string(m[2])
	}
	if len(found) == 0 {
		t.Fatal("no code is declared")
	}
	return found
}
