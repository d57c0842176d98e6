package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/cause"
)

var quoted = regexp.MustCompile("`([^`]+)`")

func words(cell string) []string {
	var all []string
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, match[1])
	}
	return all
}

// TestCausesAreWhatTheyAreSaidToBe decides every row of causes.md as status does.
func TestCausesAreWhatTheyAreSaidToBe(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/causes.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[cause.Cause]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || strings.HasPrefix(line, "| what happened") {
			continue
		}
		says := words(cells[3])
		if len(says) == 0 || len(words(cells[1])) == 0 {
			t.Errorf("not a row: %s", line)
			continue
		}
		want := cause.Cause(says[0])
		named[want] = true
		seen := sightOf(t, words(cells[2]))
		for _, message := range words(cells[1]) {
			end := cause.End{Message: message, Finished: second(2)}
			switch message {
			case "nothing":
				end = cause.End{Replaced: true}
			case "Succeeded":
				end = cause.End{Succeeded: true, Finished: second(2)}
			}
			got := cause.Of(end, seen)
			if got.Cause != want || got.Interrupted != strings.Contains(cells[3], "interrupted") || end.Replaced != strings.Contains(cells[3], "restarted") {
				t.Errorf("%q with %v is %+v: %s", message, cells[2], got, line)
			}
		}
	}
	for _, c := range cause.All {
		if !named[c] {
			t.Errorf("causes.md lacks %s", c)
		}
		delete(named, c)
	}
	for c := range named {
		t.Errorf("there is no cause %q", c)
	}
}

func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

// sightOf is what was seen of a pod that showed what a row says, and ended in the second after.
func sightOf(t *testing.T, words []string) cause.Entry {
	t.Helper()
	e := cause.Entry{UID: "u", Node: "n"}
	main := func() *cause.Exit {
		if e.Main == nil {
			e.Main = &cause.Exit{Reason: "Error", Finished: second(2)}
		}
		return e.Main
	}
	for _, word := range words {
		kind, reason, isCondition := strings.Cut(word, "=")
		name, value, _ := cutLast(word, " ")
		switch {
		case isCondition:
			e.Conditions = append(e.Conditions, cause.Condition{Type: kind, Reason: reason, At: second(1)})
			e.Deleted = second(1)
		case word == "deletionTimestamp":
			e.Deleted = second(1)
		case word == "OOMKilled":
			main().Reason = word
		case name == "reason":
			e.Reason = value
		case name == "exit code":
			code, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			main().Code = code
		default:
			t.Errorf("a pod does not show %q", word)
		}
	}
	return e
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
