package unreserve

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/runhook/runhook/functions/reserve"
	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

var gpu = corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}

type cluster struct{ node *corev1.Node }

func newCluster(reservedFor string, worker bool) *cluster {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{gpu}}}
	if worker {
		node.Labels = map[string]string{"w": "yes"}
	}
	if reservedFor != "" {
		capacity.Settings{Reservation: "simrun/reserved"}.Reserve(node, reservedFor)
	}
	return &cluster{node}
}

func (c *cluster) ChangeNode(_ context.Context, name string, change func(*corev1.Node) (bool, error)) error {
	if name != c.node.Name {
		return fault.New(fault.NotFound, "node %s does not exist", name)
	}
	changed := c.node.DeepCopy()
	write, err := change(changed)
	if err == nil && write {
		c.node = changed
	}
	return err
}

func (c *cluster) WorkflowMetadata(_ context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	if name != "theirs" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{owner.RunLabel: "x"},
		Annotations: map[string]string{owner.Annotation: "cd"},
	}}, nil
}

func TestUnreserve(t *testing.T) {
	planner := function.Caller{Name: "ci", Scheduling: true}
	for name, tc := range map[string]struct {
		cluster *cluster
		caller  function.Caller
		body    string
		want    string
		kind    fault.Kind
		keeps   string // whose reservation stands afterwards
	}{
		"reserved":           {newCluster("mine", true), planner, `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","changed":true}`, "", ""},
		"not reserved":       {newCluster("", true), planner, `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","changed":false}`, "", ""},
		"no worker any more": {newCluster("mine", false), planner, `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","changed":true}`, "", ""},
		"for another run":    {newCluster("other", true), planner, `{"node":"n1","run":"mine"}`, "", fault.Conflict, "other"},
		"another's run":      {newCluster("theirs", true), planner, `{"node":"n1","run":"theirs"}`, "", fault.NotFound, "theirs"},
		"never a worker":     {newCluster("", false), planner, `{"node":"n1","run":"mine"}`, "", fault.Invalid, ""},
		"unknown node":       {newCluster("", true), planner, `{"node":"n2","run":"mine"}`, "", fault.NotFound, ""},
		"without the right":  {newCluster("mine", true), function.Caller{Name: "ci"}, `{"node":"n1","run":"mine"}`, "", fault.Forbidden, "mine"},
		"no names":           {newCluster("mine", true), planner, `{}`, "", fault.Invalid, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := reserve.Settings{
				Capacity: capacity.Settings{Workers: labels.SelectorFromSet(labels.Set{"w": "yes"}), Reservation: "simrun/reserved"},
				Foreign:  owner.ForeignRead,
			}
			response, err := New(tc.cluster, settings).Handle(t.Context(), function.Call{Caller: tc.caller, Body: json.RawMessage(tc.body)})
			if fault.KindOf(err) != tc.kind {
				t.Fatalf("got %v, want kind %q", err, tc.kind)
			}
			if tc.kind == "" {
				encoded, err := json.Marshal(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, string(encoded)); diff != "" {
					t.Errorf("want -, got +:\n%s", diff)
				}
			}
			if got := settings.Capacity.ReservedFor(tc.cluster.node); got != tc.keeps {
				t.Errorf("reserved for %q, want %q", got, tc.keeps)
			}
			if tc.cluster.node.Spec.Taints[0] != gpu {
				t.Error("the taint of another writer is gone")
			}
		})
	}
}
