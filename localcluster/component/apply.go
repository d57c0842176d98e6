package component

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// apply applies objects server-side, once for each content: what was applied is
// remembered beside etcd's data and goes with it.
func apply(ctx context.Context, c *Cluster, name, objects string) error {
	mark := c.Home.Run("applied", name)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(objects)))
	if done, err := os.ReadFile(mark); err == nil && string(done) == hash {
		return nil
	}
	if _, err := kubectl(ctx, c, objects, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return err
	}
	return writeFile(mark, hash)
}

// render renders a kustomization that stands on upstream's manifests. The
// result is kept by the hash of the kustomization, as rendering takes a second.
func render(ctx context.Context, c *Cluster, name, kustomization string, finish func(string) (string, error)) (string, error) {
	dir := c.Home.Run("kustomize", name)
	rendered := filepath.Join(dir, fmt.Sprintf("%x.yaml", sha256.Sum256([]byte(c.Binaries.Dir+kustomization))))
	if content, err := os.ReadFile(rendered); err == nil {
		return string(content), nil
	}
	if err := writeFile(filepath.Join(dir, "kustomization.yaml"), kustomization); err != nil {
		return "", err
	}
	out, err := kubectl(ctx, c, "", "kustomize", "--load-restrictor=LoadRestrictionsNone", dir)
	if err != nil {
		return "", err
	}
	if out, err = finish(out); err != nil {
		return "", err
	}
	return out, writeFile(rendered, out)
}

// upstream is a folder of upstream's manifests as a kustomization names it: relative to itself.
func upstream(c *Cluster, name, module string, parts ...string) (string, error) {
	path := filepath.Join(append([]string{c.Binaries.Manifests(module)}, parts...)...)
	rel, err := filepath.Rel(c.Home.Run("kustomize", name), path)
	if err != nil {
		return "", fmt.Errorf("find upstream's manifests: %w", err)
	}
	return rel, nil
}

// asIs is for renderings that need no finish.
func asIs(objects string) (string, error) { return objects, nil }
