package functions

import (
	"maps"
	"slices"

	"github.com/runhook/runhook/functions/generate"
	"github.com/runhook/runhook/functions/submit"
	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/run"
)

// Policy is what the config allows in a run.
func Policy(c *config.Config) run.Policy {
	return run.Policy{
		Queue:       c.Cluster.Queue,
		Priorities:  slices.Sorted(maps.Keys(c.Cluster.Priorities)),
		Resources:   c.Runs.Resources,
		VolumeKinds: c.Runs.Volumes.Kinds,
		Claims:      c.Runs.Volumes.Claims,
		Secrets:     c.Runs.Volumes.Secrets,
		Registry:    Images(c).Registry,
		GitHosts:    Images(c).Hosts,
	}
}

// Options is what the config says of every Workflow.
func Options(c *config.Config) argo.Options {
	priorities := make(map[string]argo.Priority, len(c.Cluster.Priorities))
	for name, p := range c.Cluster.Priorities {
		priorities[name] = argo.Priority(p)
	}
	return argo.Options{
		Namespace:          c.Namespace,
		Workers:            c.Cluster.Workers,
		Reservation:        c.Cluster.Reservation,
		PodLabel:           c.Cluster.RunLabel,
		ServiceAccount:     c.Cluster.ServiceAccount,
		Retries:            c.Runs.Retries,
		TTL:                c.Runs.TTL.Duration,
		PodGC:              c.Runs.PodGC,
		Priorities:         priorities,
		SecurityContext:    c.Runs.SecurityContext,
		PodSecurityContext: c.Runs.PodSecurityContext,
		ImagePullSecrets:   c.Runs.ImagePullSecrets,
		Build:              Images(c),
	}
}

func submitSettings(c *config.Config) submit.Settings {
	return submit.Settings{
		Policy:    Policy(c),
		Options:   Options(c),
		StatusURL: c.StatusURL,
	}
}

func generateSettings(c *config.Config) generate.Settings {
	return generate.Settings{
		Namespace:          c.Namespace,
		Policy:             Policy(c),
		ConfigMaps:         c.Gordo.ConfigMaps,
		Foreign:            c.Cluster.Foreign,
		PodLabel:           c.Cluster.RunLabel,
		SecurityContext:    c.Runs.SecurityContext,
		PodSecurityContext: c.Runs.PodSecurityContext,
		ImagePullSecrets:   c.Runs.ImagePullSecrets,
	}
}
