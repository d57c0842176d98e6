// Package stop ends a run whose result is decided: what runs is ended, exit
// handlers still run, and its helpers are cancelled.
package stop

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/shutdown"
)

// New makes the function.
func New(cluster shutdown.Cluster, foreign owner.Foreign) function.Function {
	return shutdown.Function("stop", "stops a run whose result is decided: exit handlers still run, its helpers end", wfv1.ShutdownStrategyStop, cluster, foreign)
}
