package watch

import (
	"context"
	"time"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/once"
)

// forget deletes what was remembered of alerts, once nobody asks for it any
// more, for as long as this replica leads.
func (w *Watch) forget(ctx context.Context) {
	for {
		forgotten, err := once.Forget(ctx, w.Leases, w.OnceKeep, time.Now())
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("old Leases of alerts may be left", "error", err.Error())
		}
		if forgotten > 0 {
			w.Log.Info("old Leases of alerts are deleted", "leases", forgotten)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(limits.OnceLook):
		}
	}
}
