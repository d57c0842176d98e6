package component

import (
	"context"
	"fmt"
	"path"
	"strconv"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
	"github.com/runhook/runhook/localcluster/pki"
)

// nodeLabels mark a worker: the example queues' flavour asks for it.
const nodeLabels = "simrun/worker=true"

// kubelet is node n's kubelet, with a cgroup root of its own.
func kubelet(n int) Component {
	name := layout.NodeName(n)
	k := process(name+"-kubelet", []string{"apiserver", "images", name + "-containerd"}, func(c *Cluster) Process {
		config := c.Home.Run(name, "kubelet.yaml")
		return Process{
			Command: []string{
				c.Binaries.Path("hyper"), "kubelet", "--config=" + config, "--kubeconfig=" + nodeKubeconfig(c, n),
				"--hostname-override=" + name, "--node-ip=" + layout.NodeAddress(n),
				"--root-dir=" + c.Home.Run(name, "kubelet"), "--node-labels=" + nodeLabels,
			},
			Files: map[string]string{config: kubeletConfig(c, n)},
		}
	}, func(ctx context.Context, c *Cluster) error {
		// The API server believes in a node for a while after its kubelet is gone.
		if err := answers200(fmt.Sprintf("http://127.0.0.1:%d/healthz", healthPort(n)))(ctx, c); err != nil {
			return err
		}
		return nodeReady(ctx, c, name)
	})
	run := k.Start
	k.Start = func(ctx context.Context, c *Cluster) error {
		if err := machine.MakeControlGroup(nodeControlGroup(n)); err != nil {
			return err
		}
		return run(ctx, c)
	}
	return k
}

// healthPort is node n's: all kubelets share the loopback.
func healthPort(n int) int { return 10260 + 10*n }

func nodeControlGroup(n int) string { return path.Join(layout.ControlGroup, layout.NodeName(n)) }

// failCgroupV1 and enforceNodeAllocatable: version 1 machines serve as well.
// syncFrequency: a changed Secret is there in seconds, which Kueue's start waits for.
const kubeletTemplate = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: ${ADDRESS}
healthzBindAddress: 127.0.0.1
healthzPort: ${HEALTH}
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: ${AUTHORITY}}}
authorization: {mode: Webhook}
tlsCertFile: ${CERT}
tlsPrivateKeyFile: ${KEY}
cgroupDriver: cgroupfs
cgroupRoot: /${GROUP}
cgroupsPerQOS: true
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://${SOCKET}
failSwapOn: false
failCgroupV1: false
evictionHard: {nodefs.available: "1%", imagefs.available: "1%", memory.available: 100Mi}
imageGCHighThresholdPercent: 100
resolvConf: ""
clusterDNS: [${DNS}]
clusterDomain: cluster.local
localStorageCapacityIsolation: false
syncFrequency: 5s
podLogsDir: ${LOGS}
`

func kubeletConfig(c *Cluster, n int) string {
	name := layout.NodeName(n)
	return fill(kubeletTemplate, words{
		"ADDRESS":   layout.NodeAddress(n),
		"HEALTH":    strconv.Itoa(healthPort(n)),
		"AUTHORITY": c.PKI.Cert(pki.Authority),
		"CERT":      c.PKI.Cert(name), "KEY": c.PKI.Key(name),
		"GROUP":  nodeControlGroup(n),
		"SOCKET": containerdSocket(c, n),
		"DNS":    layout.Gateway,
		"LOGS":   c.Home.Run(name, "pods"),
	})
}

func nodeReady(ctx context.Context, c *Cluster, name string) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := get(ctx, c, "/api/v1/nodes/"+name, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
		if condition.Type == "Ready" {
			return fmt.Errorf("the node is not ready: %s", condition.Message)
		}
	}
	return fmt.Errorf("the node has not reported yet")
}
