package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatRoseIsSummedUpOverTheReplicas(t *testing.T) {
	before := counters{{"a", "hooks"}: 4, {"b", "hooks"}: 7, {"gone", "hooks"}: 9, {"a", "still"}: 3, {"a", "anew"}: 8}
	now := counters{{"a", "hooks"}: 5, {"b", "hooks"}: 8, {"new", "hooks"}: 1, {"a", "still"}: 3, {"a", "anew"}: 2, {"b", "zero"}: 0}
	if diff := cmp.Diff(map[string]int{"hooks": 3, "anew": 2}, now.since(before)); diff != "" {
		t.Error(diff)
	}
}

func TestSeriesOfOneReplicaLooksAsThatOfAnother(t *testing.T) {
	for want, metric := range map[string]map[string]string{
		`runhook_hooks_total{provider="github",result="accepted"}`: {"__name__": "runhook_hooks_total", "result": "accepted", "provider": "github", "instance": "a", "job": "runhook"},
		`runhook_runs_submitted_total{}`:                           {"__name__": "runhook_runs_submitted_total", "instance": "b", "job": "runhook"},
	} {
		if got := seriesOf(metric); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
