package component

import (
	"fmt"

	"github.com/runhook/runhook/localcluster/layout"
)

// containerd is the container runtime of node n: its own root, state, socket and pod range.
func containerd(n int) Component {
	return process(layout.NodeName(n)+"-containerd", []string{"network"}, func(c *Cluster) Process {
		config := c.Home.Run(layout.NodeName(n), "containerd.toml")
		return Process{
			Command: []string{"containerd", "--config", config},
			Files: map[string]string{
				config: containerdConfig(c.Home.Run(layout.NodeName(n))),
				c.Home.Run(layout.NodeName(n), "cni", "10-bridge.conflist"):                 cniConfig(c.Home.Run(layout.NodeName(n)), n),
				c.Home.Run(layout.NodeName(n), "registries", layout.Registry, "hosts.toml"): registryHosts,
			},
		}
	}, listensOn(func(c *Cluster) string { return containerdSocket(c, n) }))
}

func containerdSocket(c *Cluster, n int) string {
	return c.Home.Run(layout.NodeName(n), "containerd.sock")
}

// registryHosts lets containerd speak plain HTTP to the registry.
const registryHosts = `server = "http://` + layout.Registry + `"

[host."http://` + layout.Registry + `"]
  capabilities = ["pull", "resolve"]
`

// restrict_oom_score_adj: root may lack the capability to lower a score.
// disable_apparmor: a profile would stay loaded on the machine.
const containerdTemplate = `version = 2
root = "${DIR}/containerd"
state = "${DIR}/containerd-state"

[grpc]
  address = "${DIR}/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${SANDBOX}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${DIR}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${DIR}/registries"
`

func containerdConfig(dir string) string {
	return fill(containerdTemplate, words{"DIR": dir, "SANDBOX": layout.Registry + "/" + pauseImage})
}

// cniConfig puts the node's pods on the one bridge, with a range of their own.
func cniConfig(dir string, n int) string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0", "name": "%s",
  "plugins": [{
    "type": "bridge", "bridge": "%s", "isGateway": false, "hairpinMode": true,
    "ipam": {
      "type": "host-local", "dataDir": "%s/ipam",
      "ranges": [[{"subnet": "%s", "rangeStart": "10.88.%d.1", "rangeEnd": "10.88.%[5]d.254", "gateway": "%[6]s"}]],
      "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}
`, layout.NodeName(n), layout.Bridge, dir, layout.PodNetwork, n, layout.Gateway)
}
