// Package cancel ends a run at once: its Workflow, its pods and its helpers.
package cancel

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/shutdown"
)

// New makes the function.
func New(cluster shutdown.Cluster, foreign owner.Foreign) function.Function {
	return shutdown.Function("cancel", "terminates a run: its Workflow, its pods and its helpers", wfv1.ShutdownStrategyTerminate, cluster, foreign)
}
