package cli

import (
	"strings"
	"testing"
)

func TestArgumentsAreThoseOfTheLineOfUse(t *testing.T) {
	for line, told := range map[string]string{
		"render run.yaml":      `render takes no argument, and a file with -f: "run.yaml" is too much`,
		"submit x.yaml":        `submit takes no argument, and a file with -f: "x.yaml" is too much`,
		"check c.yaml":         `check takes no argument, and a file with -c: "c.yaml" is too much`,
		"nodes x":              `nodes takes no argument, and a file with -f: "x" is too much`,
		"placements x":         `placements takes no argument: "x" is too much`,
		"logs":                 `logs: name RUN and TASK`,
		"logs x":               `logs: name TASK`,
		"cancel":               `cancel: name RUN`,
		"cancel a b":           `cancel takes only RUN: "b" is too much`,
		"extra a fit":          `extra: name WORKERS`,
		"status a b":           `status takes only RUN, and a file with -f: "b" is too much`,
		"call":                 `call: name FUNCTION`,
		"replay -c c.yaml":     `replay: name REQUEST.http`,
		"replay a.http c.yaml": `replay takes only REQUEST.http, and a file with -c: "c.yaml" is too much`,
	} {
		command, _, _ := strings.Cut(line, " ")
		want := "runhook: " + told + "\nusage: runhook " + command
		if got := runhook(t, "", strings.Fields(line)...); got.code != 2 || !strings.HasPrefix(got.err, want) {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}
