package stop

import (
	"context"
	"encoding/json"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// cluster holds one run that goes on, and notes how it is ended.
type cluster struct{ strategy wfv1.ShutdownStrategy }

func (*cluster) Workflow(context.Context, string) ([]byte, error) {
	return []byte(`{"metadata": {"name": "a", "labels": {"runhook/run": "a"}}, "status": {"phase": "Running"}}`), nil
}

func (*cluster) Workflows(context.Context, map[string]string) ([]byte, error) {
	return []byte(`{"items": []}`), nil
}

func (c *cluster) ShutdownWorkflow(_ context.Context, _ string, strategy wfv1.ShutdownStrategy) error {
	c.strategy = strategy
	return nil
}

func TestStrategy(t *testing.T) {
	on := &cluster{}
	f := New(on, owner.ForeignNone)
	if _, err := f.Handle(context.Background(), function.Call{Caller: function.Caller{AllRuns: true}, Body: json.RawMessage(`{"run": "a"}`)}); err != nil {
		t.Fatal(err)
	}
	if f.Name != "stop" || on.strategy != wfv1.ShutdownStrategyStop {
		t.Errorf("%s used %s", f.Name, on.strategy)
	}
}
