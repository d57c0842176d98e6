package component

import "github.com/runhook/runhook/localcluster/layout"

const etcdURL = "http://127.0.0.1:2379"

// etcd keeps the API server's objects; a lost write after a power cut is no loss here.
func etcd() Component {
	return process("etcd", []string{"network"}, func(c *Cluster) Process {
		return Process{Command: []string{
			c.Binaries.Path("etcd"), "--data-dir=" + c.Home.Run("etcd"), "--name=" + layout.Namespace,
			"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
			"--listen-peer-urls=http://127.0.0.1:2380", "--unsafe-no-fsync",
		}}
	}, answers200(etcdURL+"/health"))
}
