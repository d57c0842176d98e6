package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is nobody in particular, and not root. It is a number, as Kubernetes
// cannot check runAsNonRoot by a name.
const user = "65532:65532"

type file struct {
	path   string
	mode   int64
	source string
}

// pack makes an image of one layer: the binary, the CA certificates, an empty /tmp.
func pack(binary, roots string) (v1.Image, error) {
	if err := static(binary); err != nil {
		return nil, err
	}
	layer, err := layer([]file{
		{"usr/local/bin/runhook", 0o755, binary},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, roots},
	})
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config.User = user
	config.Config.Entrypoint = []string{"/usr/local/bin/runhook"}
	config.Config.Env = []string{"PATH=/usr/local/bin"}
	return mutate.ConfigFile(image, config)
}

// static refuses a binary that needs a loader: the image has none, and the
// container would fail with "no such file".
func static(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return fmt.Errorf("%s is no Linux binary: %w", binary, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is linked dynamically: build it with CGO_ENABLED=0", binary)
		}
	}
	return nil
}

// layer writes the files and their folders without times and owners, so that
// equal files give an equal digest.
func layer(files []file) (v1.Layer, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, dir := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "usr/", "usr/local/", "usr/local/bin/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, f := range files {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil
	})
}
