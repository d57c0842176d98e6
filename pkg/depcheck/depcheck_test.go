// Package depcheck holds the layers of the program to their promise: the pure
// packages know no cluster, and functions know no HTTP server.
package depcheck

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/runhook/runhook/"

// Packages that bring a cluster or a server, with what is below them. Argo's
// types bring client-go/rest, which by itself calls nothing.
var (
	cluster = []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/informers", "k8s.io/client-go/dynamic", "k8s.io/client-go/tools/cache",
		"github.com/argoproj/argo-workflows/v3/pkg/client", module + "pkg/cluster"}
	server = []string{"github.com/labstack/echo", module + "pkg/server"}
)

var pure = []string{
	"argo", "capacity", "cause", "config", "event", "fault", "function", "gordo", "hook", "limits", "owner", "run", "secret", "status", "strict",
}

func TestPurePackagesKnowNoCluster(t *testing.T) {
	for _, name := range pure {
		refuse(t, "./pkg/"+name, append(cluster, server...))
	}
}

func TestFunctionsKnowNoServer(t *testing.T) {
	refuse(t, "./functions/...", server)
}

// TestTheCheckSeesWhatItRefuses would fail if the check looked at nothing.
func TestTheCheckSeesWhatItRefuses(t *testing.T) {
	if found := within(dependencies(t, "./pkg/server"), server[:1]); len(found) == 0 {
		t.Error("the server does not seem to use echo")
	}
	if found := within(dependencies(t, "./pkg/cluster"), cluster); len(found) == 0 {
		t.Error("package cluster does not seem to use client-go")
	}
}

func refuse(t *testing.T, pattern string, refused []string) {
	t.Helper()
	for _, found := range within(dependencies(t, pattern), refused) {
		t.Errorf("%s depends on %s", pattern, found)
	}
}

func within(packages, refused []string) []string {
	var found []string
	for _, p := range packages {
		for _, r := range refused {
			if p == r || strings.HasPrefix(p, r+"/") {
				found = append(found, p)
			}
		}
	}
	return found
}

// dependencies lists what the packages of a pattern import, with all below.
func dependencies(t *testing.T, pattern string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", pattern)
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pattern, err)
	}
	return strings.Fields(string(out))
}
