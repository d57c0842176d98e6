package component

import "github.com/runhook/runhook/localcluster/pki"

// Both run without leader election: with it they end when the API server is away for ten seconds.

// controllerManager is kube-controller-manager.
func controllerManager() Component {
	return process("controller-manager", []string{"apiserver"}, func(c *Cluster) Process {
		return Process{Command: []string{
			c.Binaries.Path("hyper"), "kube-controller-manager",
			"--kubeconfig=" + c.Home.AdminKubeconfig(), "--bind-address=127.0.0.1",
			"--service-account-private-key-file=" + c.PKI.Key(pki.ServiceAccounts),
			"--root-ca-file=" + c.PKI.Cert(pki.Authority),
			"--use-service-account-credentials", "--allocate-node-cidrs=false", "--leader-elect=false",
		}}
	}, listens("127.0.0.1:10257"))
}

// scheduler is kube-scheduler.
func scheduler() Component {
	return process("scheduler", []string{"apiserver"}, func(c *Cluster) Process {
		return Process{Command: []string{
			c.Binaries.Path("hyper"), "kube-scheduler",
			"--kubeconfig=" + c.Home.AdminKubeconfig(), "--bind-address=127.0.0.1", "--leader-elect=false",
		}}
	}, listens("127.0.0.1:10259"))
}
