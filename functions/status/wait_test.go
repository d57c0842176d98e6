package status

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

var settings = Settings{Foreign: owner.ForeignRead, Time: 5 * time.Second}

func ask(ctx context.Context, f function.Function, call function.Call, body string) (status.Status, error) {
	call.Body = json.RawMessage(body)
	got, err := f.Handle(ctx, call)
	if err != nil {
		return status.Status{}, err
	}
	return got.Body.(status.Status), nil
}

var ci = function.Call{Caller: function.Caller{Name: "ci"}}

func TestWaitEndsWithTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &cluster{run: "a", version: "1"}
		f := New(on, settings)
		before, err := ask(t.Context(), f, ci, `{"run": "a"}`)
		if err != nil {
			t.Fatal(err)
		}
		if on.watches != 0 {
			t.Error("watched although nobody waits")
		}
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				got, err := ask(t.Context(), f, ci, `{"run": "a", "wait": "30s", "since": "`+before.ResourceVersion+`"}`)
				if err != nil || got.ResourceVersion == before.ResourceVersion {
					t.Errorf("got %s, %v", got.ResourceVersion, err)
				}
			})
		}
		time.Sleep(10 * time.Second)
		started := time.Now()
		on.change(func() { on.version = "2" })
		all.Wait()
		if waited := time.Since(started); waited > limits.WaitGap {
			t.Errorf("the change was told after %s", waited)
		}
		if on.watches != 1 {
			t.Errorf("a thousand waiters cost %d watches", on.watches)
		}
		ours := map[string]string{"runhook/run": "a"}
		if !reflect.DeepEqual(on.watched, []map[string]string{ours, ours}) {
			t.Errorf("watched %v", on.watched)
		}
		// What has changed since is told at once.
		started = time.Now()
		if _, err := ask(t.Context(), f, ci, `{"run": "a", "wait": "30s", "since": "`+before.ResourceVersion+`"}`); err != nil || time.Since(started) > 0 {
			t.Errorf("waited %s for what was there: %v", time.Since(started), err)
		}
	})
}

func TestWaitEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &cluster{version: "1"}
		f := New(on, settings)
		stopping := make(chan struct{})
		all := function.Caller{AllRuns: true}
		for name, tc := range map[string]struct {
			stopping chan struct{}
			want     time.Duration
		}{"its time": {nil, 30 * time.Second}, "the server": {stopping, 10 * time.Second}} {
			started := time.Now()
			if tc.stopping != nil {
				time.AfterFunc(tc.want, func() { close(stopping) })
			}
			got, err := ask(t.Context(), f, function.Call{Caller: all, Stopping: tc.stopping}, `{"run": "a", "wait": "30s"}`)
			if err != nil || got.Run != "a" || time.Since(started) != tc.want {
				t.Errorf("%s: %s after %s, %v", name, got.Run, time.Since(started), err)
			}
		}
		if on.watched[0] != nil || on.watched[1]["workflows.argoproj.io/workflow"] != "a" {
			t.Errorf("a foreign run is watched by %v", on.watched)
		}
	})
}

func TestWaitTellsAnOutage(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*cluster)
		want   fault.Kind
		after  time.Duration
	}{
		"the cluster is away until the end":      {func(on *cluster) { on.away = true }, fault.Unavailable, 30 * time.Second},
		"the run has become another's meanwhile": {func(on *cluster) { on.caller = "cd" }, fault.NotFound, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &cluster{run: "a", version: "1"}
				f := New(on, settings)
				time.AfterFunc(10*time.Second, func() { on.change(func() { tc.change(on) }) })
				started := time.Now()
				_, err := ask(t.Context(), f, ci, `{"run": "a", "wait": "30s"}`)
				if fault.KindOf(err) != tc.want || time.Since(started) != tc.after {
					t.Errorf("%v after %s", err, time.Since(started))
				}
			})
		})
	}
}

func TestWaitIsRefused(t *testing.T) {
	f := New(&cluster{run: "a"}, settings)
	for body, path := range map[string]string{
		`{"run": "a", "wait": "soon"}`:                                           "wait",
		`{"run": "a", "wait": "-1s"}`:                                            "wait",
		fmt.Sprintf(`{"run": "a", "wait": %q}`, limits.WaitTime+time.Nanosecond): "wait",
		`{"run": "a", "since": "7"}`:                                             "since",
		`{}`:                                                                     "run",
	} {
		_, err := ask(t.Context(), f, ci, body)
		if fault.KindOf(err) != fault.Invalid || len(fault.From(err).Problems) != 1 || fault.From(err).Problems[0].Path != path {
			t.Errorf("%s: got %v", body, err)
		}
		if checked := f.Check(json.RawMessage(body)); fault.KindOf(checked) != fault.Invalid {
			t.Errorf("%s: the check says %v", body, checked)
		}
	}
	_, err := ask(t.Context(), f, ci, `{"run": "A", "wait": "soon"}`)
	if problems := fault.From(err).Problems; len(problems) != 2 {
		t.Errorf("not every mistake is told: %v", problems)
	}
	if f.Timeout < limits.WaitTime+settings.Time {
		t.Errorf("its time is %s", f.Timeout)
	}
}
