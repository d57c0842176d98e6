package main

import (
	"archive/tar"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// binary builds a program, static or not.
func binary(t *testing.T, cgo string) string {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	program := "package main\n\nfunc main() {}\n"
	if cgo == "1" {
		program = "package main\n\nimport \"C\"\n\nfunc main() {}\n"
	}
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", out, source)
	build.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func TestPushedImageRunsAsNobodyWithOnlyItsFiles(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	roots := filepath.Join(t.TempDir(), "roots.crt")
	if err := os.WriteFile(roots, []byte("certificates"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := strings.TrimPrefix(server.URL, "http://") + "/acme/runhook:v1"
	args := []string{"-binary", binary(t, "0"), "-roots", roots, "-to", to}
	if err := run(args); err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewTag(to)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/usr/local/bin/runhook" {
		t.Errorf("config %+v", config.Config)
	}
	var files []string
	content := mutate.Extract(image)
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files = append(files, header.Name)
		}
	}
	if diff := cmp.Diff([]string{"usr/local/bin/runhook", "etc/ssl/certs/ca-certificates.crt"}, files); diff != "" {
		t.Error(diff)
	}
	before, _ := image.Digest()
	if err := run(args); err != nil {
		t.Fatal(err)
	}
	again, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := again.Digest(); after != before {
		t.Errorf("the same binary gave %s, then %s", before, after)
	}
}

func TestRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"no target":        {"-binary", "x"},
		"no binary":        {"-binary", filepath.Join(t.TempDir(), "none"), "-to", "127.0.0.1:1/a:b"},
		"dynamic binary":   {"-binary", binary(t, "1"), "-to", "127.0.0.1:1/a:b"},
		"not a binary":     {"-binary", "main.go", "-to", "127.0.0.1:1/a:b"},
		"digest as target": {"-to", "127.0.0.1:1/a@sha256:" + strings.Repeat("0", 64)},
	} {
		if err := run(args); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
