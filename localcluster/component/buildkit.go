package component

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/runhook/runhook/localcluster/layout"
)

const buildKitAddress = layout.Gateway + ":1234"

// buildKit is buildkitd; pods reach it as Service buildkitd in namespace buildkit, too.
func buildKit() Component {
	b := process("buildkit", []string{"registry", "dns"}, func(c *Cluster) Process {
		config := c.Home.Run("buildkit.toml")
		return Process{
			Command: []string{c.Binaries.Path("buildkitd"), "--config", config},
			Files:   map[string]string{config: buildKitConfig(c.Home.Run("buildkit"))},
		}
	}, func(ctx context.Context, c *Cluster) error {
		out, err := exec.CommandContext(ctx, c.Binaries.Path("buildctl"), "--addr", "tcp://"+buildKitAddress, "debug", "workers").CombinedOutput()
		if err != nil {
			return fmt.Errorf("buildctl debug workers: %w: %s", err, out)
		}
		return nil
	})
	run := b.Start
	b.Start = func(ctx context.Context, c *Cluster) error {
		if err := apply(ctx, c, "buildkit-service", buildKitService); err != nil {
			return err
		}
		return run(ctx, c)
	}
	return b
}

func buildKitConfig(root string) string {
	return fmt.Sprintf(`root = "%s"

[grpc]
  address = ["tcp://%s"]

[worker.oci]
  enabled = true
  snapshotter = "overlayfs"
  defaultCgroupParent = "/%s/buildkit"

[worker.containerd]
  enabled = false

[registry."%s"]
  http = true
`, root, buildKitAddress, layout.ControlGroup, layout.Registry)
}

const buildKitService = `apiVersion: v1
kind: Namespace
metadata: {name: buildkit}
---
apiVersion: v1
kind: Service
metadata: {name: buildkitd, namespace: buildkit}
spec: {ports: [{port: 1234}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: buildkitd
  namespace: buildkit
  labels: {kubernetes.io/service-name: buildkitd}
addressType: IPv4
endpoints: [{addresses: ["` + layout.Gateway + `"]}]
ports: [{port: 1234}]
`
