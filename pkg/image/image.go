// Package image says what an image of the cluster's registry is, and how one
// is built: by a Job whose pod lets BuildKit build and push. Pure; package
// registry below asks the registry.
package image

import "time"

// Registry is the cluster's registry, the only one that runhook asks and that
// builds push to.
type Registry struct {
	// Host is its name with its port, as references begin.
	Host string
	// PlainHTTP is true when it speaks no TLS.
	PlainHTTP bool
	// Auth names a Secret of type kubernetes.io/dockerconfigjson; empty: none
	// is needed.
	Auth string
	// TokenHosts are the hosts, with their ports, that may give out tokens for
	// it beside itself.
	TokenHosts []string
}

// Settings are what builds follow.
type Settings struct {
	Registry Registry
	// Address is buildkitd's, as in tcp://buildkitd:1234.
	Address string
	// Image holds buildctl and a shell.
	Image string
	// Timeout ends a build.
	Timeout time.Duration
	// Hosts are where Git contexts may come from.
	Hosts GitHosts
}
