package component

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/runhook/runhook/localcluster/layout"
)

// network makes the bridge inside the namespace. It is made by hand, before CNI
// would, as its address is what everything listens on.
func network() Component {
	return Component{Name: "network", Patience: patience, Start: startNetwork, Ready: networkReady}
}

func startNetwork(ctx context.Context, c *Cluster) error {
	if networkReady(ctx, c) == nil {
		return nil
	}
	for path, value := range map[string]string{
		"/proc/sys/net/ipv4/ip_forward": "1",
		// a pod reaches another pod's Service on the same bridge only so
		"/proc/sys/net/bridge/bridge-nf-call-iptables": "1",
	} {
		if err := os.WriteFile(path, []byte(value), 0); err != nil {
			return fmt.Errorf("set %s (is the kernel's br_netfilter there?): %w", path, err)
		}
	}
	// The route comes last: it is what tells that all is done.
	for _, line := range networkCommands() {
		args := strings.Fields(line)
		out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "File exists") {
			return fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// networkCommands can be run again over a half-made network.
func networkCommands() []string {
	lines := []string{
		"ip link set lo up",
		"ip link add " + layout.Bridge + " type bridge",
		"ip addr add " + layout.Gateway + "/16 dev " + layout.Bridge,
	}
	for n := 1; n <= layout.Nodes; n++ {
		lines = append(lines, "ip addr add "+layout.NodeAddress(n)+"/16 dev "+layout.Bridge)
	}
	return append(lines,
		"ip link set "+layout.Bridge+" up",
		// ClusterIPs need a route before kube-proxy's rules are asked at all
		"ip route add "+layout.ServiceNetwork+" dev "+layout.Bridge+" src "+layout.Gateway)
}

func networkReady(ctx context.Context, _ *Cluster) error {
	out, err := exec.CommandContext(ctx, "ip", "route", "show", layout.ServiceNetwork).Output()
	if err != nil {
		return fmt.Errorf("ip route show: %w", err)
	}
	if !strings.Contains(string(out), layout.Bridge) {
		return fmt.Errorf("there is no route to %s", layout.ServiceNetwork)
	}
	return nil
}
