// Package cluster holds the clients of a Kubernetes cluster and the few calls
// that functions make. Every error it gives is a fault.
package cluster

import (
	"time"

	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runhook/runhook/pkg/fault"
)

// requestTime bounds one request to the API server. A call's own deadline is
// shorter; this one ends what has none, such as a forgotten background call.
const requestTime = time.Minute

// Cluster is one namespace of runs on one cluster.
type Cluster struct {
	kube kubernetes.Interface
	// streams is kube for answers that have no end of their own, such as a log
	// that is followed: requestTime would cut them.
	streams kubernetes.Interface
	argo    versioned.Interface
	// watches has no end of its own either, and reads metadata only.
	watches   metadata.Interface
	namespace string
}

// Config is the access to a cluster. An empty kubeconfig means the pod's
// ServiceAccount, and outside of a pod the default kubeconfig.
func Config(kubeconfig, userAgent string) (*rest.Config, error) {
	config, err := restConfig(kubeconfig)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "no access to a cluster: %v", err)
	}
	config.UserAgent = userAgent
	config.Timeout = requestTime
	// The API server's own priority and fairness share the load out; the
	// client's default of 5 requests a second would queue a burst of pushes
	// past the 3 s that a hook has.
	config.QPS = -1
	return config, nil
}

// Connect makes the clients.
func Connect(kubeconfig, namespace, userAgent string) (*Cluster, error) {
	config, err := Config(kubeconfig, userAgent)
	if err != nil {
		return nil, err
	}
	builtin := rest.CopyConfig(config)
	builtin.ContentType = "application/vnd.kubernetes.protobuf"
	builtin.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	kube, err := kubernetes.NewForConfig(builtin)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "no access to a cluster: %v", err)
	}
	endless := rest.CopyConfig(builtin)
	endless.Timeout = 0
	streams, err := kubernetes.NewForConfig(endless)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "no access to a cluster: %v", err)
	}
	argo, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "no access to a cluster: %v", err)
	}
	watches, err := metadata.NewForConfig(endless)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "no access to a cluster: %v", err)
	}
	return &Cluster{kube: kube, streams: streams, argo: argo, watches: watches, namespace: namespace}, nil
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		if config, err := rest.InClusterConfig(); err == nil {
			return config, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
}
