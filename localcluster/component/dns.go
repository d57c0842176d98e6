package component

import "github.com/runhook/runhook/localcluster/layout"

// Resolver is the resolv.conf of the cluster's processes outside pods.
const Resolver = "nameserver " + layout.Gateway + "\nsearch svc.cluster.local cluster.local\noptions ndots:5\n"

const corefile = `.:53 {
	bind ${GATEWAY}
	errors
	ready 127.0.0.1:8181
	kubernetes cluster.local in-addr.arpa ip6.arpa {
		kubeconfig ${KUBECONFIG}
		pods insecure
	}
	cache 2
	loadbalance
}
`

// dns is CoreDNS. It knows the cluster's names only: nothing outside is reachable anyway.
func dns() Component {
	return process("dns", []string{"apiserver"}, func(c *Cluster) Process {
		file := c.Home.Run("Corefile")
		content := fill(corefile, words{"GATEWAY": layout.Gateway, "KUBECONFIG": c.Home.AdminKubeconfig()})
		return Process{
			Command: []string{c.Binaries.Path("coredns"), "-conf", file},
			Files:   map[string]string{file: content},
		}
	}, answers200("http://127.0.0.1:8181/ready"))
}
