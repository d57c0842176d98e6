package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/runhook/runhook/localcluster/progress"
)

// sources lays down the patched copy of argo-workflows, the go.mod that uses
// it, and the manifests of all three, so that later the module cache may go.
func (b builder) sources(ctx context.Context, p *progress.Printer) error {
	src := filepath.Dir(b.modfile())
	if exists(src) {
		return nil
	}
	part := b.set.Path(".src")
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("clear the sources: %w", err)
	}
	err := p.During("fetch the sources of the binaries", func() error {
		if err := b.patch(ctx, part); err != nil {
			return err
		}
		return b.manifests(ctx, part)
	})
	if err != nil {
		return fmt.Errorf("prepare the sources: %w; see %s", err, b.log)
	}
	return os.Rename(part, src)
}

// patch copies argo-workflows and adds two files: one that its module lacks
// because upstream it is a symbolic link, which module archives drop, and one
// with a method that apimachinery 0.34 asks for. A copy is needed because Go
// refuses overlays of the module cache.
func (b builder) patch(ctx context.Context, part string) error {
	if err := b.command(ctx, "go", "mod", "download", argoWorkflows, argoEvents, kueue); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	dir, err := b.moduleDir(ctx, argoWorkflows)
	if err != nil {
		return err
	}
	aw := filepath.Join(part, "argo-workflows")
	if err := copyTree(aw, dir); err != nil {
		return err
	}
	executor := filepath.Join(aw, "workflow", "executor")
	darwin := filepath.Join(executor, "osspecific", "signal_darwin.go")
	if err := copyFile(filepath.Join(executor, "osspecific", "signal_linux.go"), darwin); err != nil {
		return err
	}
	lookup := filepath.Join(b.module, "patch", "labels_lookup.go.txt")
	if err := copyFile(filepath.Join(executor, "labels_lookup.go"), lookup); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(b.module, "go.mod"))
	if err != nil {
		return err
	}
	final := filepath.Join(filepath.Dir(b.modfile()), "argo-workflows")
	mod = fmt.Appendf(mod, "\nreplace %s => %s\n", argoWorkflows, final)
	if err := os.WriteFile(filepath.Join(part, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	return copyFile(filepath.Join(part, "go.sum"), filepath.Join(b.module, "go.sum"))
}

func (b builder) manifests(ctx context.Context, part string) error {
	for _, m := range []struct{ name, module, dir string }{
		{"argo-workflows", argoWorkflows, "manifests"},
		{"argo-events", argoEvents, "manifests"},
		{"kueue", kueue, "config"},
	} {
		dir, err := b.moduleDir(ctx, m.module)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(b.set.Manifests(m.name)); err != nil {
			return err
		}
		if err := copyTree(b.set.Manifests(m.name), filepath.Join(dir, m.dir)); err != nil {
			return err
		}
	}
	return nil
}

func (b builder) moduleDir(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir, cmd.Env = b.module, b.environment()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the module %s: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// copyTree copies with writable modes, as the module cache is read-only.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copyFile(filepath.Join(to, rel), path)
	})
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
