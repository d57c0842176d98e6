package binaries

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/progress"
)

// GiteaVersion is what the module in localcluster/gitea pins.
const GiteaVersion = "v1.24.6"

const gitea = "code.gitea.io/gitea"

// giteaFlags are those of the other builds, as far as they go, to share their cache.
var giteaFlags = []string{
	"-mod=readonly", "-pgo=off", "-trimpath", "-gcflags=all=-dwarf=false",
	"-tags=sqlite sqlite_unlock_notify", "-ldflags=-s -w -X main.Version=" + GiteaVersion[1:],
}

// Gitea is a git host. It is a set of its own: only who asks for it waits until
// it is built.
type Gitea struct{ Dir string }

// Wanted reports whether there is to be one.
func (g Gitea) Wanted() bool { return g.Dir != "" }

// Program is the path of its binary.
func (g Gitea) Program() string { return filepath.Join(g.Dir, "gitea") }

// Files is the folder of what it reads while it runs: templates, options, public files.
func (g Gitea) Files() string { return filepath.Join(g.Dir, "src") }

// EnsureGitea returns Gitea, building it if it is missing. It is built in a copy
// of its own module: its go.mod replaces modules, which counts only there.
func EnsureGitea(ctx context.Context, home layout.Home, p *progress.Printer) (Gitea, error) {
	version, err := goVersion(ctx)
	if err != nil {
		return Gitea{}, err
	}
	hash, err := Hash(home.GiteaModule(), version, giteaFlags)
	if err != nil {
		return Gitea{}, err
	}
	g := Gitea{Dir: filepath.Join(home.Binaries(), "gitea-"+hash)}
	if exists(g.Program()) {
		return g, nil
	}
	log := g.Dir + ".log"
	if err := os.MkdirAll(g.Dir, 0o755); err != nil {
		return Gitea{}, fmt.Errorf("make the folder of Gitea: %w", err)
	}
	err = p.During("fetch the source of Gitea", func() error { return g.fetch(ctx, builder{module: home.GiteaModule(), log: log}) })
	if err != nil {
		return Gitea{}, fmt.Errorf("fetch Gitea: %w; see %s", err, log)
	}
	err = p.During("build Gitea (it takes 4 to 10 minutes once)", func() error { return g.build(ctx, builder{module: g.Files(), log: log, cgo: true}) })
	if err != nil {
		return Gitea{}, fmt.Errorf("build Gitea: %w; see %s", err, log)
	}
	return g, nil
}

func (g Gitea) fetch(ctx context.Context, b builder) error {
	if exists(g.Files()) {
		return nil
	}
	if err := b.command(ctx, "go", "mod", "download", gitea); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	from, err := b.moduleDir(ctx, gitea)
	if err != nil {
		return err
	}
	part := filepath.Join(g.Dir, ".src")
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("clear the source: %w", err)
	}
	if err := copyTree(part, from); err != nil {
		return err
	}
	return os.Rename(part, g.Files())
}

func (g Gitea) build(ctx context.Context, b builder) error {
	part := filepath.Join(g.Dir, ".gitea")
	args := append([]string{"build"}, giteaFlags...)
	if err := b.command(ctx, "go", append(args, "-o", part, ".")...); err != nil {
		return err
	}
	return os.Rename(part, g.Program())
}
