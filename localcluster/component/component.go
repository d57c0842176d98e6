// Package component holds the parts of the cluster, one file each, and brings
// them up in the order of their needs.
package component

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/pki"
)

// Component is one part of the cluster.
type Component struct {
	Name string
	// Needs names the components that must be ready before this one starts.
	Needs []string
	// Start brings it up; it does nothing when it is up already as it should be.
	Start func(context.Context, *Cluster) error
	// Ready is nil once it does its work, else it says what is missing.
	Ready func(context.Context, *Cluster) error
	// Explain adds to the log why it does not become ready; nil if the log says it anyway.
	Explain func(context.Context, *Cluster) error
	// Patience is how long it may take from start to ready.
	Patience time.Duration
}

// Cluster is what components start from.
type Cluster struct {
	Home     layout.Home
	Binaries binaries.Set
	Gitea    binaries.Gitea
	PKI      pki.Dir
	// Program is this program, for those of its commands that stay running.
	Program Program
	// Listeners are the forwards' open listeners; none when the forward runs already.
	Listeners []*os.File
}

// Program is this program's file, which may be gone after `go run`, and its hash.
type Program struct{ Path, Hash string }

// Ordinary patience, and that of what runs in pods. Both are for a machine that
// compiles beside the cluster; an idle one needs a tenth of it.
const (
	patience    = 90 * time.Second
	podPatience = 6 * time.Minute
)

// All are the cluster's components.
func (c *Cluster) All() []Component {
	all := []Component{
		network(), certificates(), registry(), shippedImages(),
		etcd(), apiServer(), controllerManager(), scheduler(), dns(), proxy(), forward(),
	}
	for n := 1; n <= layout.Nodes; n++ {
		all = append(all, containerd(n), kubelet(n))
	}
	all = append(all,
		buildKit(), nats(), argoWorkflows(), kueue(), queues(), argoEvents(),
		prometheus(), alertmanager())
	if c.Gitea.Wanted() {
		all = append(all, gitea(), giteaUser())
	}
	return all
}

// Sort orders components so that each comes after all it needs.
func Sort(all []Component) ([]Component, error) {
	byName := map[string]Component{}
	for _, c := range all {
		if _, twice := byName[c.Name]; twice {
			return nil, fmt.Errorf("two components are named %s", c.Name)
		}
		byName[c.Name] = c
	}
	const visiting, done = 1, 2
	state := map[string]int{}
	var sorted []Component
	var visit func(c Component) error
	visit = func(c Component) error {
		switch state[c.Name] {
		case done:
			return nil
		case visiting:
			return fmt.Errorf("%s needs itself, by way of what it needs", c.Name)
		}
		state[c.Name] = visiting
		for _, name := range c.Needs {
			need, ok := byName[name]
			if !ok {
				return fmt.Errorf("%s needs %s, which does not exist", c.Name, name)
			}
			if err := visit(need); err != nil {
				return err
			}
		}
		state[c.Name] = done
		sorted = append(sorted, c)
		return nil
	}
	for _, c := range all {
		if err := visit(c); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
