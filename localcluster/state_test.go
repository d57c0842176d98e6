package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/runhook/runhook/localcluster/layout"
)

func TestMarkIsSetOnceAndInsistedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "mark")
	for _, step := range []struct {
		value string
		ok    bool
	}{{"a", true}, {"a", true}, {"b", false}} {
		err := checkMark(path, step.value, "it changed")
		if (err == nil) != step.ok {
			t.Errorf("%s: %v", step.value, err)
		}
		if err != nil && err.Error() != "it changed: run localcluster down, then up" {
			t.Errorf("it says %q", err)
		}
	}
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if got := readLines(path); len(got) != 0 {
		t.Errorf("no file has lines %v", got)
	}
	for _, lines := range [][]string{{"/a", "/b"}, nil, {"/c"}} {
		if err := addLines(path, lines); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(readLines(path), " "); got != "/a /b /c" {
		t.Errorf("got %s", got)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment(layout.Home{Dir: "/h"}, "/h/bin/x")
	for _, want := range []string{
		"export KUBECONFIG=/h/run/kubeconfig\n", "export RUNHOOK_REGISTRY=127.0.0.1:15000\n",
		"export BUILDKIT_HOST=tcp://127.0.0.1:11234\n", "export PATH=/h/bin/x:\"$PATH\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
