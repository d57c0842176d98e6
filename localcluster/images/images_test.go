package images

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func testImage(t *testing.T) Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Image{Ref: "tool:v1", Entrypoint: []string{"tool"}, Files: []File{{Path: "bin/tool", From: path}, {Path: "bin/alias", Link: "tool"}}}
}

// serve starts a registry on dir; a second one on the same folder is a restart.
func serve(t *testing.T, dir string) string {
	t.Helper()
	handler, err := Registry(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestArchive(t *testing.T) {
	content, err := archive(testImage(t).Files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname)
	}
	want := "dtrwxrwxrwx tmp/ |drwxr-xr-x bin/ |-rwxr-xr-x bin/tool |Lrwxrwxrwx bin/alias tool"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestPushOnce(t *testing.T) {
	address := serve(t, t.TempDir())
	image := testImage(t)
	for range 2 {
		if err := Push(context.Background(), address, image); err != nil {
			t.Fatal(err)
		}
		image.Files = []File{{Path: "x", From: "/nonexistent"}} // must not be read again
	}
	ref, err := name.ParseReference(address+"/tool:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pulled.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.Entrypoint[0] != "tool" || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("the image has entrypoint %v and %d layers", config.Config.Entrypoint, len(config.RootFS.DiffIDs))
	}
}

func TestRegistryRemembersOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := serve(t, dir)
	if err := Push(context.Background(), first, testImage(t)); err != nil {
		t.Fatal(err)
	}
	image, err := build(testImage(t))
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image})
	ref, err := name.ParseReference(first+"/many:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, index); err != nil {
		t.Fatal(err)
	}
	second := serve(t, dir)
	for _, path := range []string{"/v2/tool/manifests/v1", "/v2/many/manifests/v1"} {
		answer, err := http.Get("http://" + second + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s after a restart: %s", path, answer.Status)
		}
	}
}

func TestManifestTooLargeIsRefused(t *testing.T) {
	address := serve(t, t.TempDir())
	request, err := http.NewRequest(http.MethodPut, "http://"+address+"/v2/a/manifests/b", bytes.NewReader(make([]byte, maxManifest+1)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("answered %s", answer.Status)
	}
}
