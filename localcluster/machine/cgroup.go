package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hierarchy is one mounted tree of cgroups.
type hierarchy struct {
	dir     string
	unified bool
}

func hierarchies() ([]hierarchy, error) {
	content, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	return parseHierarchies(string(content)), nil
}

func parseHierarchies(table string) []hierarchy {
	var found []hierarchy
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) >= 3 && (f[2] == "cgroup" || f[2] == "cgroup2") {
			found = append(found, hierarchy{dir: f[1], unified: f[2] == "cgroup2"})
		}
	}
	return found
}

// MakeControlGroup makes a group, with its parents, in every hierarchy. The
// kubelet takes the root it is given only if it is there in all of them.
func MakeControlGroup(path string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	// Beside version 1 hierarchies the unified one manages nothing: it is left as it is.
	only := len(all) == 1 && all[0].unified
	for _, h := range all {
		dir := h.dir
		for part := range strings.SplitSeq(path, "/") {
			parent := dir
			dir = filepath.Join(dir, part)
			if only {
				if err := delegate(parent); err != nil {
					return err
				}
			}
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return fmt.Errorf("make a cgroup: %w", err)
			}
			if err := copyCPUSet(dir, parent); err != nil {
				return err
			}
		}
		if only {
			if err := delegate(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate lets the children of a version 2 group have every controller it has.
func delegate(dir string) error {
	content, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read a cgroup's controllers: %w", err)
	}
	children, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return fmt.Errorf("read what a cgroup's children have: %w", err)
	}
	for _, controller := range strings.Fields(string(content)) {
		if slices.Contains(strings.Fields(string(children)), controller) {
			continue
		}
		err := writeExisting(filepath.Join(dir, "cgroup.subtree_control"), "+"+controller)
		if err != nil {
			return fmt.Errorf("hand the %s controller down in %s: %w", controller, dir, err)
		}
	}
	return nil
}

// copyCPUSet gives a version 1 cpuset what its parent has: a new one is empty
// and takes no process.
func copyCPUSet(dir, parent string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if _, err := os.Stat(filepath.Join(dir, "cgroup.subtree_control")); err == nil {
			return nil // version 2 inherits
		}
		content, err := os.ReadFile(filepath.Join(parent, file))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a cpuset: %w", err)
		}
		if err := writeExisting(filepath.Join(dir, file), string(content)); err != nil {
			return fmt.Errorf("set a cpuset: %w", err)
		}
	}
	return nil
}

// RemoveControlGroup kills every process in the group and below, and removes it.
func RemoveControlGroup(path string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for end := time.Now().Add(grace); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for _, h := range all {
			left += removeTree(filepath.Join(h.dir, path))
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d cgroups named %s do not go", left, path)
		}
	}
}

// removeTree removes what it can, children first, and counts what is left.
func removeTree(dir string) int {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	left := 0
	for _, e := range entries {
		if e.IsDir() {
			left += removeTree(filepath.Join(dir, e.Name()))
		}
	}
	content, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs")) // gone meanwhile: nothing to kill
	for _, line := range strings.Fields(string(content)) {
		if pid, err := strconv.Atoi(line); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ended meanwhile: as wanted
		}
	}
	thaw(dir)
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
		left++
	}
	return left
}

// thaw lets frozen processes die (version 1 keeps them otherwise).
func thaw(dir string) {
	_ = writeExisting(filepath.Join(dir, "freezer.state"), "THAWED") // no such file in other hierarchies
}

func writeExisting(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(content)
	return err
}
