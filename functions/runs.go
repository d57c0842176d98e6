package functions

import (
	"github.com/runhook/runhook/functions/extra"
	"github.com/runhook/runhook/functions/record"
	"github.com/runhook/runhook/functions/status"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
)

func statusSettings(c *config.Config) status.Settings {
	return status.Settings{Foreign: c.Cluster.Foreign, Time: c.Limits.FunctionTime.Duration}
}

func extraSettings(c *config.Config) extra.Settings {
	return extra.Settings{Foreign: c.Cluster.Foreign, Priorities: Options(c).Priorities}
}

func recordSettings(c *config.Config) record.Settings {
	return record.Settings{Namespace: c.Namespace, Source: event.Source(c.PublicURL, c.Namespace), Foreign: c.Cluster.Foreign}
}
