package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// covered are folders that containerd, CNI and the kubelet write to whatever
// they are told. Inside, an empty file system covers each, so that the machine
// sees nothing of it.
var covered = []string{"/run", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// CoverFolders sets up a fresh mount namespace: the covers, and the resolver
// that asks the cluster's DNS.
func CoverFolders(resolver string) error {
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return fmt.Errorf("find the resolver's file: %w", err)
	}
	for _, dir := range covered {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	if strings.HasPrefix(target, "/run/") { // just covered
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("make the resolver's folder: %w", err)
		}
		if err := os.WriteFile(target, nil, 0o644); err != nil {
			return fmt.Errorf("make the resolver's file: %w", err)
		}
	}
	if err := unix.Mount(resolver, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("set the resolver: %w", err)
	}
	return nil
}

// MakeCovered makes the folders that are to be covered and returns those that were not there.
func MakeCovered() ([]string, error) {
	var made []string
	for _, dir := range covered {
		if _, err := os.Stat(dir); err == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return made, fmt.Errorf("make %s: %w", dir, err)
		}
		made = append(made, dir)
	}
	return made, nil
}

// Unmount drops every mount below a folder, deepest first. Inside its own mount
// namespace the cluster leaves none; this is for those made before there was one.
func Unmount(dir string) error {
	content, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	points := mountsBelow(string(content), dir)
	var errs []error
	for i := len(points) - 1; i >= 0; i-- {
		if err := unix.Unmount(points[i], unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", points[i], err))
		}
	}
	return errors.Join(errs...)
}

// mountsBelow are the mount points below a folder, in the order they were made.
func mountsBelow(table, dir string) []string {
	var points []string
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		if point := strings.ReplaceAll(f[1], `\040`, " "); strings.HasPrefix(point, dir+"/") {
			points = append(points, point)
		}
	}
	return points
}
