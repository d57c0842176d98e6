package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// netnsFolder is where `ip netns` keeps namespaces by name; it makes it a mount of its own.
const netnsFolder = "/run/netns"

// netns is a named network namespace.
func netns(name string) string { return filepath.Join(netnsFolder, name) }

// NamespaceExists tells whether the network namespace is there.
func NamespaceExists(name string) bool {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == name {
			return true
		}
	}
	return false
}

// EnsureNamespace makes the network namespace.
func EnsureNamespace(ctx context.Context, name string) error {
	if NamespaceExists(name) {
		return nil
	}
	if out, err := exec.CommandContext(ctx, "ip", "netns", "add", name).CombinedOutput(); err != nil {
		return fmt.Errorf("ip netns add %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// NamespaceFolderExists tells whether anyone has made a named namespace here before.
func NamespaceFolderExists() bool {
	_, err := os.Stat(netnsFolder)
	return err == nil
}

// RemoveNamespaceFolder undoes what the first `ip netns add` leaves, unless
// another namespace is kept there by now.
func RemoveNamespaceFolder() error {
	entries, err := os.ReadDir(netnsFolder)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) > 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", netnsFolder, err)
	}
	// It may be no mount: then there is nothing to unmount.
	if err := unix.Unmount(netnsFolder, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", netnsFolder, err)
	}
	if err := os.Remove(netnsFolder); err != nil {
		return fmt.Errorf("remove %s: %w", netnsFolder, err)
	}
	return nil
}

// DeleteNamespace removes it, with every address, rule and route in it.
func DeleteNamespace(ctx context.Context, name string) error {
	if !NamespaceExists(name) {
		return nil
	}
	if out, err := exec.CommandContext(ctx, "ip", "netns", "del", name).CombinedOutput(); err != nil {
		return fmt.Errorf("ip netns del %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Members are the processes that stand in the network namespace. Pods do not:
// each has one of its own.
func Members(name string) ([]int, error) {
	var want syscall.Stat_t
	if err := syscall.Stat(netns(name), &want); err != nil {
		if errors.Is(err, syscall.ENOENT) {
			return nil, nil
		}
		return nil, fmt.Errorf("look at network namespace %s: %w", name, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		var have syscall.Stat_t
		if syscall.Stat(fmt.Sprintf("/proc/%d/ns/net", pid), &have) == nil && have.Ino == want.Ino && have.Dev == want.Dev {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Entry is how a command of the cluster's inside is started: in its network
// namespace and in the mount namespace that its processes share.
type Entry struct {
	// Fresh means that the mount namespace is gone, so that a new one is made.
	Fresh bool
	net   string
	// mount is an open descriptor, as the process it was found by may end meanwhile.
	mount int
}

// MountNamespace names the mount namespace of this process.
func MountNamespace() (string, error) {
	name, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return "", fmt.Errorf("look at the mount namespace: %w", err)
	}
	return name, nil
}

// Enter finds the namespaces. The mount namespace lives as long as one of the
// cluster's processes, and with the last of them all mounts go. It is known by
// its number, as a build's container has one of its own in the same network.
func Enter(network, mount string) (Entry, error) {
	pids, err := Members(network)
	if err != nil {
		return Entry{}, err
	}
	for _, pid := range pids {
		path := fmt.Sprintf("/proc/%d/ns/mnt", pid)
		if have, err := os.Readlink(path); err != nil || have != mount {
			continue
		}
		if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			return Entry{net: netns(network), mount: fd}, nil
		}
	}
	return Entry{Fresh: true, net: netns(network)}, nil
}

// Command starts a program inside.
func (e Entry) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	enter := []string{"--net=" + e.net}
	if !e.Fresh {
		enter = append(enter, fmt.Sprintf("--mount=/proc/%d/fd/%d", os.Getpid(), e.mount))
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(append(enter, "--", program), args...)...)
	if e.Fresh {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	return cmd
}
