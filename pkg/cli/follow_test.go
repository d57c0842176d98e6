package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return reflect.DeepEqual(x, y)
}

func state(phase, version string) answer {
	return answer{200, `{"run":"a","phase":"` + phase + `","resourceVersion":"` + version + `","tasks":{}}`}
}

var away = answer{503, `{"kind":"unavailable","detail":"the cluster cannot be reached"}`}

func TestWatchShowsEachChange(t *testing.T) {
	s := newStandIn(t, state("Pending", "1"), away, state("Running", "2"), state("Running", "3"), state("Failed", "4"))
	got := runhook(t, "", s.at(t, "status", "a", "--watch", "-o", "table")...)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	wait := func(since string) string {
		return `POST /functions/status {"run":"a","since":"` + since + `","wait":"30s"}`
	}
	// It asks again after an outage, as it had asked before.
	want := []string{`POST /functions/status {"run":"a"}`, wait("1"), wait("1"), wait("2"), wait("3")}
	if diff := cmp.Diff(want, s.calls); diff != "" {
		t.Error(diff)
	}
	// What looks the same is not shown again.
	if diff := cmp.Diff("TASK PHASE DETAIL\na Pending\n\nTASK PHASE DETAIL\na Running\n\nTASK PHASE DETAIL\na Failed", squeezed(strings.TrimSpace(got.out))); diff != "" {
		t.Error(diff)
	}
}

func TestWaitSaysHowItEnded(t *testing.T) {
	for phase, code := range map[string]int{"Succeeded": 0, "Failed": 1, "Stopped": 3} {
		for name, args := range map[string][]string{
			"status": {"status", "a", "--wait"},
			"watch":  {"status", "a", "--wait", "--watch"},
			"submit": {"submit", "-f", "-", "--wait"},
			"call":   {"call", "submit", "-f", "-", "--wait"},
		} {
			answers := []answer{state("Running", "1"), state(phase, "2")}
			if name == "submit" || name == "call" {
				answers = append([]answer{{201, `{"run":"a","created":true}`}}, answers...)
			}
			got := runhook(t, aRun, newStandIn(t, answers...).at(t, args...)...)
			if got.code != code || !strings.Contains(got.out, `"phase": "`+phase+`"`) {
				t.Errorf("%s of a run that ended %s: %+v, want %d", name, phase, got, code)
			}
			if name != "watch" && strings.Contains(got.out, "Running") {
				t.Errorf("%s shows more than the end: %s", name, got.out)
			}
		}
	}
}

func TestWaitSaysThatTheRunWasThereAlready(t *testing.T) {
	for name, tc := range map[string]struct{ answer, told string }{
		"new":     {`{"run":"a","created":true,"phase":"Pending"}`, "waiting for run a\n"},
		"running": {`{"run":"a","created":false,"phase":"Running"}`, "run a was there already (Running)\nwaiting for run a\n"},
		"ended":   {`{"run":"a","created":false,"phase":"Stopped"}`, "run a was there already (Stopped)\n"},
	} {
		s := newStandIn(t, answer{200, tc.answer}, state("Stopped", "1"))
		if got := runhook(t, aRun, s.at(t, "submit", "-f", "-", "--wait")...); got.code != 3 || got.err != tc.told {
			t.Errorf("%s: %+v, want %q", name, got, tc.told)
		}
	}
}

func TestWaitForABuild(t *testing.T) {
	for phase, code := range map[string]int{"Succeeded": 0, "Failed": 1, "TimedOut": 4} {
		s := newStandIn(t, answer{200, `{"build":"b","phase":"` + phase + `"}`})
		got := runhook(t, "ref: reg/a:1\n", s.at(t, "build-image", "-f", "-", "--wait")...)
		if got.code != code || len(s.calls) != 1 {
			t.Errorf("a build that ended %s: %+v, want %d", phase, got, code)
		}
	}
	s := newStandIn(t, answer{202, `{"build":"b","phase":"Building"}`}, answer{200, `{"build":"b","phase":"Succeeded"}`})
	if got := runhook(t, "ref: reg/a:1\n", s.at(t, "call", "build-image", "-f", "-", "--wait")...); got.code != 0 || len(s.calls) != 2 || s.calls[0] != s.calls[1] {
		t.Errorf("%+v, calls %v", got, s.calls)
	}
}

func TestWaitHasATime(t *testing.T) {
	s := newStandIn(t, state("Running", "1"))
	got := runhook(t, "", s.at(t, "status", "a", "--wait", "--timeout", "50ms")...)
	if got.code != 4 || got.err != "runhook: the run a has not ended within 50ms\n" {
		t.Errorf("%+v", got)
	}
	if got := runhook(t, "ref: reg/a:1\n", newStandIn(t, answer{202, `{"phase":"Building"}`}).at(t, "build-image", "-f", "-", "--wait", "--timeout", "50ms")...); got.code != 4 {
		t.Errorf("a build: %+v", got)
	}
}

func TestWaitForWhatDoesNotGoOn(t *testing.T) {
	s := newStandIn(t, answer{200, `{"nodes":[]}`})
	if got := runhook(t, "", s.at(t, "call", "nodes", "--wait")...); got.code != 2 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsRefusedIsNotAskedAgain(t *testing.T) {
	for name, answers := range map[string][]answer{
		"away at first": {away},
		"gone later":    {state("Running", "1"), {404, `{"kind":"not-found","detail":"run a does not exist"}`}},
	} {
		s := newStandIn(t, answers...)
		if got := runhook(t, "", s.at(t, "status", "a", "--wait")...); got.code != 1 || len(s.calls) != len(answers) {
			t.Errorf("%s: %+v after %d calls", name, got, len(s.calls))
		}
	}
}

func TestAPersonMayHaveEnough(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newStandIn(t, state("Running", "1"))
	time.AfterFunc(100*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	code := Run(ctx, s.at(t, "status", "a", "--watch"), System{Getenv: func(string) string { return "" }, Out: &out, Err: &errs})
	if code != 130 || errs.Len() > 0 {
		t.Errorf("%d %s", code, errs.String())
	}
}
