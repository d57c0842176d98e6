package component

import (
	"context"
	"fmt"
	"os"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/pki"
)

// Names of certificates.
const (
	admin       = "admin"
	apiServing  = "apiserver"
	frontProxy  = "front-proxy"
	natsServing = "nats"
)

// certificates are all keys, certificates and kubeconfigs.
func certificates() Component {
	return Component{Name: "certificates", Patience: patience, Start: startCertificates, Ready: certificatesReady}
}

func startCertificates(_ context.Context, c *Cluster) error {
	if err := pki.Ensure(c.PKI, certificateRequests()); err != nil {
		return err
	}
	type kubeconfig struct{ path, user, server string }
	wanted := []kubeconfig{
		{c.Home.AdminKubeconfig(), admin, layout.APIServer},
		{c.Home.Kubeconfig(), admin, "https://" + layout.APIForward.Address()},
	}
	for n := 1; n <= layout.Nodes; n++ {
		wanted = append(wanted, kubeconfig{nodeKubeconfig(c, n), layout.NodeName(n), layout.APIServer})
	}
	for _, k := range wanted {
		if err := pki.WriteKubeconfig(k.path, c.PKI, k.user, k.server); err != nil {
			return err
		}
	}
	return nil
}

func certificateRequests() []pki.Request {
	requests := []pki.Request{
		{Name: admin, User: "admin", Group: "system:masters"},
		{Name: frontProxy, User: frontProxy},
		{Name: natsServing, User: "nats", IP: []string{layout.Gateway}},
		{
			Name: apiServing, User: "kube-apiserver",
			DNS: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
			IP:  []string{"127.0.0.1", layout.APIService, layout.Gateway},
		},
	}
	for n := 1; n <= layout.Nodes; n++ {
		requests = append(requests, pki.Request{
			Name: layout.NodeName(n), User: "system:node:" + layout.NodeName(n), Group: "system:nodes",
			DNS: []string{layout.NodeName(n)}, IP: []string{layout.NodeAddress(n)},
		})
	}
	return requests
}

func certificatesReady(_ context.Context, c *Cluster) error {
	if _, err := os.Stat(c.Home.Kubeconfig()); err != nil {
		return fmt.Errorf("look for the kubeconfig: %w", err)
	}
	return nil
}

func nodeKubeconfig(c *Cluster, n int) string {
	return c.Home.Run(layout.NodeName(n), "kubeconfig")
}
