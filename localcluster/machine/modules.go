package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bridgeSettings are there once br_netfilter is.
const bridgeSettings = "/proc/sys/net/bridge"

// LoadModules loads the kernel's modules that are neither built in nor loaded.
// br_netfilter begins to filter the machine's own bridges when it comes; that
// is undone, as only the cluster's namespace wants it.
func LoadModules(ctx context.Context) error {
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return fmt.Errorf("list file systems: %w", err)
	}
	if !strings.Contains(string(filesystems), "\toverlay\n") {
		if err := modprobe(ctx, "overlay"); err != nil {
			return err
		}
	}
	if _, err := os.Stat(bridgeSettings); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := modprobe(ctx, "br_netfilter"); err != nil {
		return err
	}
	for _, setting := range []string{"arptables", "iptables", "ip6tables"} {
		path := filepath.Join(bridgeSettings, "bridge-nf-call-"+setting)
		if err := writeExisting(path, "0"); err != nil {
			return fmt.Errorf("leave the machine's bridges alone: %w", err)
		}
	}
	return nil
}

func modprobe(ctx context.Context, module string) error {
	if out, err := exec.CommandContext(ctx, "modprobe", module).CombinedOutput(); err != nil {
		return fmt.Errorf("modprobe %s: %w: %s", module, err, strings.TrimSpace(string(out)))
	}
	return nil
}
