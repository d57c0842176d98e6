package images

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry is a registry that keeps all on disk below dir.
func Registry(dir string) (http.Handler, error) {
	k := keeper{dir: filepath.Join(dir, "manifests")}
	blobs := filepath.Join(dir, "blobs")
	for _, folder := range []string{k.dir, blobs} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("make the registry's folder: %w", err)
		}
	}
	k.next = registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.Logger(log.New(os.Stderr, "", log.LstdFlags)))
	return k, k.restore()
}

// Serve serves a registry until it is told to end.
func Serve(ctx context.Context, address, dir string) error {
	handler, err := Registry(dir)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	return server.ListenAndServe()
}
