//go:build cluster

package clustertest

import (
	"testing"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// TestWhatNobodyInterruptedIsTold is about programs that end by themselves, or
// because of what their run says.
func TestWhatNobodyInterruptedIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fit, run map[string]any
		happens  func(*trial)
		phase    status.Phase
		want     []status.Attempt
	}{
		"over its memory": {
			fit:   task("fit", "exec "+allocate, cpu("100m")),
			phase: status.Failed,
			want:  []status.Attempt{{Phase: status.Failed, Cause: cause.OOM, Reason: "OOMKilled", ExitCode: new(137), OOM: true}},
		},
		// It reads like an interruption in Argo, and is retried like one.
		"exit code 143": {
			fit:   task("fit", "test $RUNHOOK_ATTEMPT = 1 || exit 143", cpu("100m"), retry(0)),
			phase: status.Succeeded,
			want:  []status.Attempt{{Phase: status.Failed, Cause: cause.Application, Reason: "Error", ExitCode: new(143)}, succeeded(1)},
		},
		"deadline": {
			fit: task("fit", hold, cpu("100m"), retry(3)), run: map[string]any{"deadline": "15s"},
			phase: status.Failed,
			want:  []status.Attempt{{Phase: status.Failed, Cause: cause.Deadline, Reason: "DeadlineExceeded"}},
		},
		"stopped": {
			fit: task("fit", hold, cpu("100m"), retry(3)),
			happens: func(r *trial) {
				r.runningPod(r.run, "fit")
				r.end("stop", r.run)
			},
			phase: status.Stopped,
			want:  []status.Attempt{{Phase: status.Stopped, Cause: cause.Stopped}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t)
			r.start(c.fit, c.run)
			if c.happens != nil {
				c.happens(r)
			}
			r.wantEnds(c.phase, c.want...)
		})
	}
}
