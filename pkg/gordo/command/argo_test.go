package command

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
)

// TestArgoProgram takes every row of the table through what runs the program.
func TestArgoProgram(t *testing.T) {
	failures := map[any]error{
		"FileNotFoundError": exec.ErrNotFound, "CalledProcessError": &exec.ExitError{}, "TimeoutExpired": context.DeadlineExceeded, "PermissionError": fs.ErrPermission,
	}
	for _, row := range table.Rows(t, testdata, "argo_version") {
		output, _ := row.At("stdout").(string)
		if h, ok := row.At("stdout_hex").(string); ok {
			b, err := hex.DecodeString(h)
			if err != nil {
				t.Fatal(err)
			}
			output = string(b)
		}
		failure, raises := failures[row.At("run_raises")]
		run := func(context.Context, string, ...string) ([]byte, error) { return []byte(output), failure }
		text, major, err := argoVersion(t.Context(), "argo3", run)
		parsed := row.MapAt("parsed")
		if _, bad := parsed.Get("error"); bad || raises || parsed == nil {
			if err == nil || !strings.HasPrefix(err.Error(), "--argo-binary: ") || raises && !errors.Is(err, failure) {
				t.Errorf("%q, %v: %q, %v", output, failure, text, err)
			}
			continue
		}
		if err != nil || int64(major) != parsed.MapAt("result").At("major") {
			t.Errorf("%q: %d, %v", output, major, err)
		}
	}
}

func TestNoProgramIsArgo3(t *testing.T) {
	run := func(context.Context, string, ...string) ([]byte, error) {
		t.Error("a program was run")
		return nil, nil
	}
	if text, major, err := argoVersion(t.Context(), "", run); text != "3" || major != 3 || err != nil {
		t.Errorf("%s, %d, %v", text, major, err)
	}
}
