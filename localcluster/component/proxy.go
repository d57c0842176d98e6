package component

import "github.com/runhook/runhook/localcluster/layout"

// proxy is kube-proxy; one serves all nodes, as they share the namespace. The
// limits of connection tracking are the whole machine's and stay as they are.
func proxy() Component {
	return process("proxy", []string{"apiserver"}, func(c *Cluster) Process {
		return Process{Command: []string{
			c.Binaries.Path("hyper"), "kube-proxy",
			"--kubeconfig=" + c.Home.AdminKubeconfig(), "--hostname-override=" + layout.NodeName(1),
			"--proxy-mode=nftables", "--cluster-cidr=" + layout.PodNetwork,
			"--conntrack-max-per-core=0", "--conntrack-min=0",
			"--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
			"--healthz-bind-address=127.0.0.1:10256", "--metrics-bind-address=127.0.0.1:10249",
		}}
	}, listens("127.0.0.1:10249"))
}
