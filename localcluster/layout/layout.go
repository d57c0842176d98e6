// Package layout says where the cluster's files lie and which addresses and
// names it uses. Nothing else in the program spells a path or an address.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// Namespace is the network namespace the whole cluster lives in; a process
	// is known to belong to the cluster by standing in it.
	Namespace = "runhook"
	// Bridge joins the nodes and their pods inside the namespace.
	Bridge = "cni0"
	// Gateway is the bridge's address; every process that is not a pod listens on it.
	Gateway = "10.88.0.1"
	// PodNetwork holds the gateway, the nodes and all pods.
	PodNetwork = "10.88.0.0/16"
	// ServiceNetwork holds the ClusterIPs.
	ServiceNetwork = "10.96.0.0/16"
	// APIService is the ClusterIP of Service kubernetes.
	APIService = "10.96.0.1"
	// APIServer is the API server's URL inside the namespace.
	APIServer = "https://" + Gateway + ":6443"
	// Registry is the one name of the registry: for kubelets, BuildKit and pods alike.
	Registry = Gateway + ":5000"
	// Gitea is the address of the git host, inside and in its clone addresses.
	Gitea = Gateway + ":3000"
	// RunsNamespace is the Kubernetes namespace whose Workflows and pods are managed.
	RunsNamespace = "runs"
	// Nodes is the number of worker nodes.
	Nodes = 3
	// ControlGroup is the cgroup below which all nodes and builds run.
	ControlGroup = "runhook"
)

// NodeName is the name of node n, counted from 1.
func NodeName(n int) string { return fmt.Sprintf("node%d", n) }

// NodeAddress is the address of node n, counted from 1.
func NodeAddress(n int) string { return fmt.Sprintf("10.88.255.%d", n) }

// Home is where the cluster lives on disk.
type Home struct {
	// Dir holds the built binaries and the state.
	Dir string
	// Checkout is the repository's root, whose manifests are applied.
	Checkout string
}

// defaultDir is short because paths of sockets are limited to 108 bytes.
const defaultDir = "/var/lib/runhook-cluster"

// maxDir leaves room for the longest socket path below the folder.
const maxDir = 60

// Find reads the environment and looks upwards from the working directory for the checkout.
func Find() (Home, error) {
	dir := os.Getenv("RUNHOOK_CLUSTER_HOME")
	if dir == "" {
		dir = defaultDir
	}
	if !filepath.IsAbs(dir) || len(dir) > maxDir || strings.HasPrefix(dir, "/run/") || strings.HasPrefix(dir, "/var/run/") {
		return Home{}, fmt.Errorf("RUNHOOK_CLUSTER_HOME is %q: give an absolute path of at most %d bytes, not below /run", dir, maxDir)
	}
	checkout, err := findCheckout()
	return Home{Dir: filepath.Clean(dir), Checkout: checkout}, err
}

func findCheckout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "localcluster", "build", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the checkout is not here: run localcluster inside the repository")
		}
	}
}

// BuildModule is the folder of the module that pins every binary.
func (h Home) BuildModule() string { return filepath.Join(h.Checkout, "localcluster", "build") }

// GiteaModule is the folder of the module that pins Gitea.
func (h Home) GiteaModule() string { return filepath.Join(h.Checkout, "localcluster", "gitea") }

// Manifests is a folder of the product's manifests.
func (h Home) Manifests(parts ...string) string {
	return filepath.Join(append([]string{h.Checkout, "manifests"}, parts...)...)
}

// Binaries is the folder of all built binaries, one subfolder per hash.
func (h Home) Binaries() string { return filepath.Join(h.Dir, "bin") }

// Lock is the file that keeps two calls apart.
func (h Home) Lock() string { return filepath.Join(h.Dir, "lock") }

// State is the folder of the running cluster; down removes it.
func (h Home) State() string { return filepath.Join(h.Dir, "run") }

// Run is a path below State.
func (h Home) Run(parts ...string) string {
	return filepath.Join(append([]string{h.State()}, parts...)...)
}

// Log is the log of a component.
func (h Home) Log(component string) string { return h.Run("log", component+".log") }

// Kubeconfig is for use on the machine, through the forward.
func (h Home) Kubeconfig() string { return h.Run("kubeconfig") }

// AdminKubeconfig is for use inside the namespace.
func (h Home) AdminKubeconfig() string { return h.Run("admin.kubeconfig") }
