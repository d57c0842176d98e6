package functions

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/runhook/runhook/functions/placements"
	"github.com/runhook/runhook/functions/reserve"
	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
)

// Capacity is what the config says of nodes and of the pods on them.
func Capacity(c *config.Config) capacity.Settings {
	key, value, _ := strings.Cut(c.Cluster.Workers, "=")
	return capacity.Settings{
		Workers:     labels.SelectorFromSet(labels.Set{key: value}),
		Reservation: c.Cluster.Reservation,
		RunLabel:    c.Cluster.RunLabel,
		Executor:    capacity.AmountOf(c.Cluster.Executor),
	}
}

func placementSettings(c *config.Config) placements.Settings {
	return placements.Settings{Capacity: Capacity(c), Namespace: c.Namespace, Foreign: c.Cluster.Foreign}
}

func reserveSettings(c *config.Config) reserve.Settings {
	return reserve.Settings{Capacity: Capacity(c), Foreign: c.Cluster.Foreign}
}

// listing gives a function that lists a whole cluster the time for it.
func listing(c *config.Config, f function.Function) function.Function {
	f.Timeout = c.Limits.ListTime.Duration
	return f
}
