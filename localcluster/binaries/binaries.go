// Package binaries builds what the cluster runs from one pinned Go module and
// keeps it under the hash of everything it depends on.
package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/progress"
)

// Versions of what is built; the module pins them, these are linked in and name images.
const (
	KubernetesVersion    = "v1.35.4"
	ArgoWorkflowsVersion = "v3.7.18"
	ArgoEventsVersion    = "v1.9.11"
	KueueVersion         = "v0.17.0"
	BuildKitVersion      = "v0.34.2"
)

const (
	argoWorkflows = "github.com/argoproj/argo-workflows/v3"
	argoEvents    = "github.com/argoproj/argo-events"
	kueue         = "sigs.k8s.io/kueue"
)

// target is one binary.
type target struct{ name, pkg string }

// targets stand in an order that lets the first ones fill the build cache for the later ones.
var targets = []target{
	{"hyper", "./hyper"},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"workflow-controller", argoWorkflows + "/cmd/workflow-controller"},
	{"argoexec", argoWorkflows + "/cmd/argoexec"},
	{"kueue", kueue + "/cmd/kueue"},
	{"argo-events", argoEvents + "/cmd"},
	{"buildctl", "github.com/moby/buildkit/cmd/buildctl"},
	{"buildkitd", "github.com/moby/buildkit/cmd/buildkitd"},
	{"coredns", "./coredns"},
	{"pause", "./pause"},
}

// Set is a complete set of binaries and of the manifests that belong to them.
type Set struct{ Dir string }

// Path is the path of a binary.
func (s Set) Path(name string) string { return filepath.Join(s.Dir, name) }

// Manifests is a folder of upstream's manifests: argo-workflows, argo-events or kueue.
func (s Set) Manifests(name string) string { return filepath.Join(s.Dir, "manifests", name) }

// Ensure returns the set, building what is missing.
func Ensure(ctx context.Context, home layout.Home, p *progress.Printer) (Set, error) {
	version, err := goVersion(ctx)
	if err != nil {
		return Set{}, err
	}
	hash, err := Hash(home.BuildModule(), version, flags)
	if err != nil {
		return Set{}, err
	}
	set := Set{Dir: filepath.Join(home.Binaries(), hash)}
	b := builder{set: set, module: home.BuildModule(), log: filepath.Join(home.Binaries(), hash+".log")}
	if err := os.MkdirAll(set.Dir, 0o755); err != nil {
		return Set{}, fmt.Errorf("make the folder of the binaries: %w", err)
	}
	if err := b.sources(ctx, p); err != nil {
		return Set{}, err
	}
	for i, t := range targets {
		if exists(set.Path(t.name)) {
			continue
		}
		step := fmt.Sprintf("build %s (%d of %d; all take 10 to 30 minutes once)", t.name, i+1, len(targets))
		if err := p.During(step, func() error { return b.build(ctx, t) }); err != nil {
			return Set{}, fmt.Errorf("build %s: %w; see %s", t.name, err, b.log)
		}
	}
	return set, nil
}

func goVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("ask Go for its version: %w", err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
