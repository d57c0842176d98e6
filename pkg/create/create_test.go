package create

import (
	"context"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
)

// cluster has one Workflow, or none, under every name.
type cluster struct {
	refuses error
	present string // JSON; empty: nothing
}

func (c cluster) CreateWorkflow(_ context.Context, w *wfv1.Workflow, _ bool) (*wfv1.Workflow, error) {
	if c.refuses != nil {
		return nil, c.refuses
	}
	return w, nil
}

func (c cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	if c.present == "" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return []byte(c.present), nil
}

func TestOnce(t *testing.T) {
	taken, quota := fault.New(fault.Conflict, "workflow a exists already"), fault.New(fault.Conflict, "exceeded quota")
	of := func(key string) string {
		return `{"metadata": {"name": "a", "annotations": {"runhook/key": "` + key + `"}}}`
	}
	for name, tc := range map[string]struct {
		on             cluster
		key            string
		created, found bool
		kind           fault.Kind
	}{
		"new":                   {cluster{}, "k", true, false, ""},
		"the same key":          {cluster{taken, of("k")}, "k", false, true, ""},
		"another key":           {cluster{taken, of("x")}, "k", false, false, fault.Conflict},
		"no key is no same key": {cluster{taken, of("")}, "", false, false, fault.Conflict},
		"not readable":          {cluster{taken, "[]"}, "k", false, false, fault.Conflict},
		"a quota":               {cluster{quota, ""}, "k", false, false, fault.Conflict},
		"away":                  {cluster{fault.New(fault.Unavailable, "away"), of("k")}, "k", false, false, fault.Unavailable},
	} {
		workflow := &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{argo.KeyAnnotation: tc.key}}}
		created, present, err := Once(t.Context(), tc.on, workflow, false)
		if (created != nil) != tc.created || (present != nil) != tc.found || fault.KindOf(err) != tc.kind {
			t.Errorf("%s: %v, %v, %v", name, created, present, err)
		}
	}
}
