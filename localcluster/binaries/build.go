package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// flags of every build. They are the same for all, or the cache is not shared.
var flags = []string{
	"-mod=readonly", "-pgo=off", "-trimpath",
	// gives k8s.io/api 0.35 its ProtoMessage methods back, which the gateway of argo-workflows needs
	"-tags=kubernetes_protomessage_one_more_release",
	// -s -w would drop the debug information anyway; not making it saves 15 % of the time
	"-gcflags=all=-dwarf=false",
	"-ldflags=-s -w" + linked(),
}

// linked sets the versions: Kueue refuses to work with an API server that does not know its own.
func linked() string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, " -X %s=%s", name, value) }
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		set(pkg+".gitVersion", KubernetesVersion)
		set(pkg+".gitMajor", "1")
		set(pkg+".gitMinor", "35")
		set(pkg+".gitCommit", "local")
		set(pkg+".gitTreeState", "clean")
		set(pkg+".buildDate", "1970-01-01T00:00:00Z")
	}
	for _, m := range []struct{ path, version string }{{argoWorkflows, ArgoWorkflowsVersion}, {argoEvents, ArgoEventsVersion}} {
		set(m.path+".version", m.version)
		set(m.path+".gitTag", m.version)
		set(m.path+".gitCommit", "local")
		set(m.path+".gitTreeState", "clean")
	}
	set("github.com/moby/buildkit/version.Version", BuildKitVersion)
	set("sigs.k8s.io/kueue/pkg/version.GitVersion", KueueVersion)
	return b.String()
}

// builder builds one set.
type builder struct {
	set    Set
	module string
	log    string
	cgo    bool
}

// modfile is the module's go.mod with the patched copy of argo-workflows put in.
func (b builder) modfile() string { return filepath.Join(b.set.Dir, "src", "go.mod") }

// build makes one binary; it gets its name only when it is whole.
func (b builder) build(ctx context.Context, t target) error {
	part := b.set.Path("." + t.name)
	args := append([]string{"build", "-modfile=" + b.modfile()}, flags...)
	if err := b.command(ctx, "go", append(args, "-o", part, t.pkg)...); err != nil {
		return err
	}
	return os.Rename(part, b.set.Path(t.name))
}

func (b builder) command(ctx context.Context, name string, args ...string) error {
	out, err := os.OpenFile(b.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = b.module, b.environment()
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// environment makes static binaries, as the images hold nothing but them, unless
// one needs C.
func (b builder) environment() []string {
	cgo := "CGO_ENABLED=0"
	if b.cgo {
		cgo = "CGO_ENABLED=1"
	}
	return append(os.Environ(), cgo, "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOWORK=off")
}
