package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Packages are the Debian packages the cluster is made of.
var Packages = []string{
	"busybox-static", "containerd", "containernetworking-plugins", "git", "iproute2", "iptables", "kmod",
	"nats-server", "nftables", "prometheus", "prometheus-alertmanager", "runc", "util-linux",
}

// Compilers are what Gitea's SQLite is built with.
var Compilers = []string{"gcc", "libc6-dev"}

// services are what some of these packages would start by themselves.
var services = map[string][]string{
	"containerd":              {"containerd.service"},
	"nats-server":             {"nats-server.service"},
	"prometheus":              {"prometheus.service"},
	"prometheus-alertmanager": {"prometheus-alertmanager.service"},
}

// Missing tells which packages are not installed.
func Missing(ctx context.Context, packages []string) []string {
	args := append([]string{"-W", "-f", "${db:Status-Status} ${Package}\n"}, packages...)
	out, _ := exec.CommandContext(ctx, "dpkg-query", args...).Output() // it fails when one is unknown: that one is missing
	return missing(packages, string(out))
}

func missing(packages []string, listing string) []string {
	lines := strings.Split(listing, "\n")
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		return slices.Contains(lines, "installed "+p)
	})
}

// Install installs packages and leaves none of their services running.
func Install(ctx context.Context, packages []string, log string) error {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer out.Close()
	apt := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = out, out
		return cmd.Run()
	}
	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	restore, err := forbidServices()
	if err != nil {
		return err
	}
	defer restore()
	if apt(install...) != nil { // the lists may be old or missing
		if err := apt("update"); err != nil {
			return fmt.Errorf("apt-get update: %w; see %s", err, log)
		}
		if err := apt(install...); err != nil {
			return fmt.Errorf("apt-get install %s: %w; see %s", strings.Join(packages, " "), err, log)
		}
	}
	// The policy keeps them from starting now; disabling keeps them from starting with the machine.
	if _, err := exec.LookPath("systemctl"); err != nil {
		return nil
	}
	for _, p := range packages {
		for _, unit := range services[p] {
			cmd := exec.CommandContext(ctx, "systemctl", "disable", unit)
			cmd.Stdout, cmd.Stderr = out, out
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("systemctl disable %s: %w; see %s", unit, err, log)
			}
		}
	}
	return nil
}

// policy is asked by Debian's packages before they start a service.
const policy = "/usr/sbin/policy-rc.d"

// forbidServices sets a policy for the time of the installation; a policy that
// stands already is the owner's and is left alone.
func forbidServices() (restore func(), err error) {
	f, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if os.IsExist(err) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("forbid services to start: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString("#!/bin/sh\nexit 101\n"); err != nil {
		return nil, fmt.Errorf("forbid services to start: %w", err)
	}
	return func() { os.Remove(policy) }, nil
}
