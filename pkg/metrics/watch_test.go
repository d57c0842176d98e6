package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

func TestWatchCounts(t *testing.T) {
	m := newMetrics()
	runs := []RunState{
		{Queue: "research", Phase: status.Running, Preemptions: 3},
		{Queue: "research", Phase: status.Succeeded, Preemptions: 5},
		{Queue: "research", Phase: status.Preempted, Preemptions: 2, Since: time.Now().Add(-time.Hour)},
		{Queue: "gone", Phase: status.Preempted, Since: time.Now().Add(-2 * time.Hour)},
	}
	w := NewWatch(m, []string{"runhook.run.failed.v1"}, func() []RunState { return runs })
	w.AddQueue("research")
	before := gather(t, m)
	for _, want := range []string{
		"runhook_attempts_ended_total cause=preempted queue=research", "runhook_attempts_ended_total cause=none queue=other",
		"runhook_transitions_total phase=Preempted queue=research", "runhook_preempted_wait_seconds queue=research",
		"runhook_false_successes_total queue=other", "runhook_events_total result=dead type=runhook.run.failed.v1",
		"runhook_evidence_dropped_total", "runhook_watch_leader", "runhook_watch_lag_seconds",
	} {
		if value, ok := before[want]; !ok || value != 0 {
			t.Errorf("%s: %g, %v", want, value, ok)
		}
	}
	w.Transition("research", status.Preempted)
	w.Transition("nobody's", status.Preempted)
	w.AttemptEnded("research", status.Attempt{Cause: cause.Preempted, Interrupted: true, Phase: status.Succeeded})
	w.AttemptEnded("research", status.Attempt{Phase: status.Succeeded})
	w.PreemptedWait("research", -time.Second)
	w.Sent("runhook.run.failed.v1", Dead)
	w.Sent("unknown", Dead)
	w.Lag(time.Second)
	w.EvidenceDropped(2)
	w.Leading(true)
	changed := map[string]float64{}
	for name, value := range gather(t, m) {
		if value != before[name] && !strings.HasPrefix(name, "runhook_preempted_oldest") {
			changed[name] = value
		}
	}
	want := map[string]float64{
		"runhook_transitions_total phase=Preempted queue=research":    1,
		"runhook_transitions_total phase=Preempted queue=other":       1,
		"runhook_attempts_ended_total cause=preempted queue=research": 1,
		"runhook_attempts_ended_total cause=none queue=research":      1,
		"runhook_false_successes_total queue=research":                1,
		"runhook_preempted_wait_seconds queue=research":               1,
		"runhook_events_total result=dead type=runhook.run.failed.v1": 1,
		"runhook_watch_lag_seconds":                                   1,
		"runhook_evidence_dropped_total":                              2,
		"runhook_watch_leader":                                        1,
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]float64{
		"runhook_runs phase=Running queue=research": 1, "runhook_runs phase=Succeeded queue=research": 1,
		"runhook_runs phase=Preempted queue=other": 1, "runhook_runs_preempted_repeatedly queue=research": 1,
		"runhook_runs_preempted_repeatedly queue=other": 0,
	} {
		if before[name] != want {
			t.Errorf("%s is %g, want %g", name, before[name], want)
		}
	}
	for queue, hours := range map[string]float64{"research": 1, "other": 2} {
		if got := before["runhook_preempted_oldest_seconds queue="+queue]; got < hours*3600 {
			t.Errorf("the longest wait in %s is %g s, want %g hours", queue, got, hours)
		}
	}
}

func TestRunsAddNoSeriesToTheWatch(t *testing.T) {
	m := newMetrics()
	w := NewWatch(m, []string{"runhook.run.failed.v1"}, func() []RunState { return nil })
	before := len(gather(t, m))
	for i := range 1000 {
		run := fmt.Sprintf("run-%d", i)
		w.Transition(run, status.Failed)
		w.AttemptEnded(run, status.Attempt{Cause: cause.Deleted})
		w.PreemptedWait(run, time.Second)
		w.Sent(run, Delivered)
	}
	if after := len(gather(t, m)); after != before {
		t.Errorf("1000 runs added %d series", after-before)
	}
}
