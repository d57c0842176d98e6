package component

import (
	"context"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/pki"
)

// apiServer is kube-apiserver. The request header flags are for Kueue's
// aggregated API, without which namespaces would not go away.
func apiServer() Component {
	return process("apiserver", []string{"etcd", "certificates"}, func(c *Cluster) Process {
		cert, key := c.PKI.Cert, c.PKI.Key
		return Process{Command: []string{
			c.Binaries.Path("hyper"), "kube-apiserver",
			"--etcd-servers=" + etcdURL,
			"--bind-address=" + layout.Gateway, "--advertise-address=" + layout.Gateway, "--secure-port=6443",
			"--tls-cert-file=" + cert(apiServing), "--tls-private-key-file=" + key(apiServing),
			"--client-ca-file=" + cert(pki.Authority),
			"--service-account-key-file=" + cert(pki.ServiceAccounts),
			"--service-account-signing-key-file=" + key(pki.ServiceAccounts),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--authorization-mode=Node,RBAC", "--allow-privileged=true",
			"--service-cluster-ip-range=" + layout.ServiceNetwork,
			"--kubelet-client-certificate=" + cert(admin), "--kubelet-client-key=" + key(admin),
			"--kubelet-certificate-authority=" + cert(pki.Authority), "--kubelet-preferred-address-types=InternalIP",
			"--requestheader-client-ca-file=" + cert(pki.Authority), "--requestheader-allowed-names=" + frontProxy,
			"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + cert(frontProxy), "--proxy-client-key-file=" + key(frontProxy),
			"--enable-aggregator-routing=true",
		}}
	}, func(ctx context.Context, c *Cluster) error { return get(ctx, c, "/readyz", nil) })
}
