package functions

import (
	"github.com/runhook/runhook/functions/status"
	"github.com/runhook/runhook/pkg/config"
)

func statusSettings(c *config.Config) status.Settings {
	return status.Settings{Foreign: c.Cluster.Foreign, Time: c.Limits.FunctionTime.Duration}
}
