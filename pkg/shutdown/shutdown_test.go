package shutdown

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// cluster holds a run `a` of the caller ci with two helpers, and notes the
// orders that it is given.
type cluster struct {
	run     string // JSON of its spec and status
	foreign bool
	helpers []string
	orders  []string
	gone    string // a Workflow that is deleted when it is ended
}

func object(name, labels, rest string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q, "labels": {%s}, "annotations": {"runhook/caller": "ci"}}, %s}`, name, labels, rest)
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	if name != "a" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	labels := `"runhook/run": "a"`
	if c.foreign {
		labels = ""
	}
	return []byte(object("a", labels, c.run)), nil
}

func (c *cluster) Workflows(_ context.Context, labels map[string]string) ([]byte, error) {
	if labels["runhook/extra-of"] != "a" {
		return nil, fault.New(fault.Internal, "asked for %v", labels)
	}
	var items []string
	for i, helper := range c.helpers {
		items = append(items, object(fmt.Sprintf("a-extra-%d", i), `"runhook/run": "a", "runhook/extra-of": "a"`, helper))
	}
	return []byte(`{"items": [` + strings.Join(items, ",") + `]}`), nil
}

func (c *cluster) ShutdownWorkflow(_ context.Context, name string, strategy wfv1.ShutdownStrategy) error {
	if name == c.gone {
		return fault.New(fault.NotFound, "run %s does not exist", name)
	}
	c.orders = append(c.orders, name+" "+string(strategy))
	return nil
}

const (
	running = `"status": {"phase": "Running", "startedAt": "2026-01-01T00:00:00Z"}`
	ended   = `"status": {"phase": "Succeeded", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T01:00:00Z"}`
	ending  = `"spec": {"shutdown": "Stop"}, ` + running
	killed  = `"spec": {"shutdown": "Terminate"}, ` + running
)

func TestEndsTheRunThenItsHelpers(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster  cluster
		strategy wfv1.ShutdownStrategy
		orders   []string
		changed  bool
	}{
		"running":                   {cluster{run: running, helpers: []string{running, ended}}, "Stop", []string{"a Stop", "a-extra-0 Terminate"}, true},
		"ended":                     {cluster{run: ended}, "Terminate", nil, false},
		"ended, a helper left over": {cluster{run: ended, helpers: []string{running}}, "Terminate", []string{"a-extra-0 Terminate"}, true},
		"stopped twice":             {cluster{run: ending}, "Stop", nil, false},
		"stopped, then cancelled":   {cluster{run: ending}, "Terminate", []string{"a Terminate"}, true},
		"cancelled, then stopped":   {cluster{run: killed}, "Stop", nil, false},
		"deleted meanwhile":         {cluster{run: running, gone: "a"}, "Stop", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := Function("cancel", "", tc.strategy, &tc.cluster, owner.ForeignRead)
			got, err := f.Handle(context.Background(), function.Call{Caller: function.Caller{Name: "ci"}, Body: json.RawMessage(`{"run": "a"}`)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.orders, tc.cluster.orders); diff != "" {
				t.Error(diff)
			}
			if answer := got.Body.(Response); answer.Changed != tc.changed || answer.Run != "a" || answer.Phase == "" {
				t.Errorf("answer %+v", answer)
			}
		})
	}
}

func TestOthersRunsAreNotEnded(t *testing.T) {
	all := function.Caller{Name: "ops", AllRuns: true}
	for name, tc := range map[string]struct {
		cluster cluster
		caller  function.Caller
		body    string
		kind    fault.Kind
	}{
		"another's":              {cluster{run: running}, function.Caller{Name: "cd"}, `{"run": "a"}`, fault.NotFound},
		"no such run":            {cluster{run: running}, all, `{"run": "b"}`, fault.NotFound},
		"foreign, to be read":    {cluster{run: running, foreign: true}, all, `{"run": "a"}`, fault.Forbidden},
		"foreign, of another":    {cluster{run: running, foreign: true}, function.Caller{Name: "ci"}, `{"run": "a"}`, fault.NotFound},
		"no name":                {cluster{run: running}, all, `{}`, fault.Invalid},
		"a path for a name":      {cluster{run: running}, all, `{"run": "../secrets/x"}`, fault.Invalid},
		"an unknown key":         {cluster{run: running}, all, `{"run": "a", "force": true}`, fault.Invalid},
		"the cluster's nonsense": {cluster{run: `"status": {"compressedNodes": "%%%"}`}, all, `{"run": "a"}`, fault.Conflict},
	} {
		f := Function("cancel", "", wfv1.ShutdownStrategyTerminate, &tc.cluster, owner.ForeignRead)
		_, err := f.Handle(context.Background(), function.Call{Caller: tc.caller, Body: json.RawMessage(tc.body)})
		if fault.KindOf(err) != tc.kind || len(tc.cluster.orders) > 0 {
			t.Errorf("%s: %v, orders %v", name, err, tc.cluster.orders)
		}
	}
}

// A route of a hook that could never end a run is told when the config is read.
func TestCheckAsksForARun(t *testing.T) {
	f := Function("stop", "", wfv1.ShutdownStrategyStop, &cluster{}, owner.ForeignRead)
	for body, want := range map[string]fault.Kind{`{"run": "a"}`: "", `{}`: fault.Invalid, `{"run": "A/b"}`: fault.Invalid} {
		if got := fault.KindOf(f.Check(json.RawMessage(body))); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
