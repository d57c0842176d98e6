// Package images makes images from nothing but static binaries and pushes them.
package images

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image is an image to make: its files and what it runs.
type Image struct {
	// Ref is the reference without the registry, as in kueue:v0.17.0.
	Ref        string
	Entrypoint []string
	Files      []File
}

// File is one file or symbolic link of an image.
type File struct {
	Path string
	// From is the file on the machine; Link is the target of a symbolic link instead.
	From, Link string
}

// Shell is a busybox with the commands that templates and tests use.
func Shell(busybox string) []File {
	files := []File{{Path: "bin/busybox", From: busybox}}
	for _, command := range strings.Fields("sh echo sleep cat ls true false env date grep head tail seq mkdir rm cp mv touch wc test dd kill nc wget sed awk id hostname tr printf stat") {
		files = append(files, File{Path: "bin/" + command, Link: "busybox"})
	}
	return files
}

// Pushed tells whether the registry holds the image's reference; nil if so.
func Pushed(ctx context.Context, registry string, image Image) error {
	ref, err := name.ParseReference(registry+"/"+image.Ref, name.Insecure)
	if err != nil {
		return fmt.Errorf("look for %s: %w", image.Ref, err)
	}
	if _, err := remote.Head(ref, options(ctx)...); err != nil {
		return fmt.Errorf("look for %s: %w", image.Ref, err)
	}
	return nil
}

// Push makes the image and pushes it, unless the registry holds the reference already.
func Push(ctx context.Context, registry string, image Image) error {
	if Pushed(ctx, registry, image) == nil {
		return nil
	}
	ref, err := name.ParseReference(registry+"/"+image.Ref, name.Insecure)
	if err != nil {
		return fmt.Errorf("push %s: %w", image.Ref, err)
	}
	made, err := build(image)
	if err != nil {
		return fmt.Errorf("make the image %s: %w", image.Ref, err)
	}
	if err := remote.Write(ref, made, options(ctx)...); err != nil {
		return fmt.Errorf("push %s: %w", image.Ref, err)
	}
	return nil
}

// options go through no proxy: the registry is on this machine.
func options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithTransport(&http.Transport{DisableKeepAlives: true})}
}

func build(image Image) (v1.Image, error) {
	content, err := archive(image.Files)
	if err != nil {
		return nil, err
	}
	// An uncompressed layer: the registry is on this machine, and compressing costs seconds.
	made, err := mutate.AppendLayers(empty.Image, static.NewLayer(content, types.OCIUncompressedLayer))
	if err != nil {
		return nil, err
	}
	made = mutate.MediaType(made, types.OCIManifestSchema1)
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Architecture, config.OS = runtime.GOARCH, "linux"
	config.Config = v1.Config{Env: []string{"PATH=/bin"}, Entrypoint: image.Entrypoint}
	return mutate.ConfigFile(made, config)
}

// archive is deterministic: the same files give the same image.
func archive(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for _, f := range files {
		if i := strings.LastIndex(f.Path, "/"); i >= 0 && !folders[f.Path[:i]] {
			folders[f.Path[:i]] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.Path[:i] + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		if err := add(w, f); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func add(w *tar.Writer, f File) error {
	if f.Link != "" {
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: f.Path, Linkname: f.Link, Mode: 0o777})
	}
	content, err := os.ReadFile(f.From)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: 0o755, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
