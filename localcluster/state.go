package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/component"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
	"github.com/runhook/runhook/localcluster/pki"
)

// Files that tell about the running cluster.
const (
	bootFile     = "boot-id"      // the machine's boot it was started in
	binariesFile = "binaries"     // the set it runs
	giteaFile    = "gitea-set"    // there when it has a Gitea: which
	madeFolders  = "made-folders" // folders of the machine that were made for it
	madeNetns    = "made-netns"   // there when the machine had no named network namespace before
	resolverFile = "resolv.conf"
	mountFile    = "mount-namespace" // its number
)

// checkBoot refuses a cluster without its state, and a state from before a
// restart of the machine: its namespaces are gone, and with them what it speaks of.
func checkBoot(home layout.Home) error {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return fmt.Errorf("read the machine's boot id: %w", err)
	}
	if _, err := os.Stat(home.Run(bootFile)); errors.Is(err, os.ErrNotExist) {
		pids, err := machine.Members(layout.Namespace)
		if err != nil {
			return err
		}
		if len(pids) > 0 {
			return fmt.Errorf("a cluster runs already that %s knows nothing of: run localcluster down, then up", home.Dir)
		}
	}
	return checkMark(home.Run(bootFile), string(id), "the machine was restarted since the cluster was started")
}

// checkBinaries refuses to mix the binaries of two builds.
func checkBinaries(home layout.Home, set binaries.Set) error {
	return checkMark(home.Run(binariesFile), set.Dir, "the cluster runs other binaries than this checkout's")
}

// checkMark sets a mark the first time and insists on it from then on.
func checkMark(path, want, problem string) error {
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the cluster's state: %w", err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			return fmt.Errorf("make the cluster's state: %w", err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("read the cluster's state: %w", err)
	case string(have) != want:
		return fmt.Errorf("%s: run localcluster down, then up", problem)
	}
	return nil
}

// giteaOf is the Gitea that the running cluster has, or none.
func giteaOf(home layout.Home) binaries.Gitea {
	dir, _ := os.ReadFile(home.Run(giteaFile)) // none: the zero value
	return binaries.Gitea{Dir: string(dir)}
}

// entry finds the way into the running cluster.
func entry(home layout.Home) (machine.Entry, error) {
	return machine.Enter(layout.Namespace, strings.Join(readLines(home.Run(mountFile)), ""))
}

func addLines(path string, lines []string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the cluster's state: %w", err)
	}
	defer f.Close()
	for _, line := range lines {
		if _, err := fmt.Fprintln(f, line); err != nil {
			return fmt.Errorf("write the cluster's state: %w", err)
		}
	}
	return nil
}

func readLines(path string) []string {
	content, _ := os.ReadFile(path) // none: no lines
	return strings.Fields(string(content))
}

func newCluster(p place) (*component.Cluster, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read this program: %w", err)
	}
	return &component.Cluster{
		Home: p.home, Binaries: p.set, Gitea: p.gitea, PKI: pki.Dir(p.home.Run("pki")),
		Program: component.Program{Path: path, Hash: fmt.Sprintf("%x", sha256.Sum256(content))},
	}, nil
}

// errReported is for what the command inside has said already.
var errReported = errors.New("the cluster is not up")

// quiet replaces the exit status of a command that reported its failure itself.
func quiet(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return errReported
	}
	return err
}
