package reserve

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/owner"
)

// cluster has one node, n1, and the runs `mine` and `theirs`.
type cluster struct {
	node   *corev1.Node
	writes int
}

func newCluster(reservedFor string, labels map[string]string) *cluster {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: maps.Clone(labels)}}
	if reservedFor != "" {
		capacity.Settings{Reservation: "simrun/reserved"}.Reserve(node, reservedFor)
	}
	return &cluster{node: node}
}

func (c *cluster) ChangeNode(_ context.Context, name string, change func(*corev1.Node) (bool, error)) error {
	if name != c.node.Name {
		return fault.New(fault.NotFound, "node %s does not exist", name)
	}
	changed := c.node.DeepCopy()
	write, err := change(changed)
	if err == nil && write {
		c.node = changed
		c.writes++
	}
	return err
}

func (c *cluster) WorkflowMetadata(_ context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	callers := map[string]string{"mine": "ci", "theirs": "cd"}
	if callers[name] == "" {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{owner.RunLabel: "x"},
		Annotations: map[string]string{owner.Annotation: callers[name]},
	}}, nil
}

var (
	planner = function.Caller{Name: "ci", Scheduling: true}
	worker  = map[string]string{"simrun/worker": "true"}
)

func call(t testing.TB, c *cluster, caller function.Caller, body string) (function.Response, error) {
	t.Helper()
	settings := Settings{
		capacity.Settings{Workers: labels.SelectorFromSet(worker), Reservation: "simrun/reserved"},
		owner.ForeignRead,
	}
	return New(c, settings).Handle(t.Context(), function.Call{Caller: caller, Body: json.RawMessage(body)})
}

func TestReserve(t *testing.T) {
	for name, tc := range map[string]struct {
		reservedFor, body, want string
	}{
		"a free node":            {"", `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","replaced":null,"changed":true}`},
		"again":                  {"mine", `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","replaced":null,"changed":false}`},
		"again, ifFree":          {"mine", `{"node":"n1","run":"mine","ifFree":true}`, `{"node":"n1","run":"mine","replaced":null,"changed":false}`},
		"another's":              {"theirs", `{"node":"n1","run":"mine"}`, `{"node":"n1","run":"mine","replaced":"theirs","changed":true}`},
		"a run that is to come":  {"", `{"node":"n1","run":"later"}`, `{"node":"n1","run":"later","replaced":null,"changed":true}`},
		"a free node, if ifFree": {"", `{"node":"n1","run":"mine","ifFree":true}`, `{"node":"n1","run":"mine","replaced":null,"changed":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(tc.reservedFor, map[string]string{"simrun/worker": "true"})
			response, err := call(t, c, planner, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(encoded)); diff != "" || response.Status != http.StatusOK {
				t.Errorf("%d, want -, got +:\n%s", response.Status, diff)
			}
			var asked Request
			if err := json.Unmarshal([]byte(tc.body), &asked); err != nil {
				t.Fatal(err)
			}
			want := []corev1.Taint{{Key: "simrun/reserved", Value: asked.Run, Effect: corev1.TaintEffectNoExecute}}
			if diff := cmp.Diff(want, c.node.Spec.Taints); diff != "" || c.node.Labels["simrun/reserved"] != asked.Run {
				t.Errorf("label %q, taints, want -, got +:\n%s", c.node.Labels["simrun/reserved"], diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster *cluster
		caller  function.Caller
		body    string
		kind    fault.Kind
		says    string
	}{
		"without the right":       {newCluster("", worker), function.Caller{Name: "ci", AllRuns: true}, `{"node":"n1","run":"mine"}`, fault.Forbidden, "scheduling"},
		"unknown node":            {newCluster("", worker), planner, `{"node":"n2","run":"mine"}`, fault.NotFound, "node n2"},
		"not a worker node":       {newCluster("", nil), planner, `{"node":"n1","run":"mine"}`, fault.Invalid, "not a worker node: it has not the label simrun/worker=true"},
		"taken, ifFree":           {newCluster("theirs", worker), planner, `{"node":"n1","run":"mine","ifFree":true}`, fault.Conflict, "reserved for run theirs"},
		"another's run":           {newCluster("", worker), planner, `{"node":"n1","run":"theirs"}`, fault.NotFound, "run theirs does not exist"},
		"no run":                  {newCluster("", worker), planner, `{"node":"n1"}`, fault.Invalid, "run: "},
		"no node":                 {newCluster("", worker), planner, `{"run":"mine"}`, fault.Invalid, "node: "},
		"both wrong":              {newCluster("", worker), planner, `{"node":"../pods","run":"a b"}`, fault.Invalid, "run: not the id of a run"},
		"longer than a label":     {newCluster("", worker), planner, `{"node":"n1","run":"` + strings.Repeat("a", 64) + `"}`, fault.Invalid, "63"},
		"unknown key":             {newCluster("", worker), planner, `{"node":"n1","run":"mine","force":true}`, fault.Invalid, "force"},
		"not JSON":                {newCluster("", worker), planner, `node: n1`, fault.Malformed, "JSON"},
		"a node of another shape": {newCluster("", worker), planner, `{"node":["n1"],"run":"mine"}`, fault.Invalid, "node"},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.cluster.node.DeepCopy()
			_, err := call(t, tc.cluster, tc.caller, tc.body)
			if fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %s %v, want %s that says %q", fault.KindOf(err), err, tc.kind, tc.says)
			}
			if diff := cmp.Diff(before, tc.cluster.node); diff != "" || tc.cluster.writes > 0 {
				t.Errorf("the node was changed:\n%s", diff)
			}
		})
	}
}

func TestWhoSeesAllMayReserveForAll(t *testing.T) {
	for name, caller := range map[string]function.Caller{
		"all runs": {Name: "ops", AllRuns: true, Scheduling: true},
		"a hook":   {Name: "hook:alerts/free", Everything: true},
	} {
		if _, err := call(t, newCluster("", worker), caller, `{"node":"n1","run":"theirs"}`); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("n1", "mine")
	f.Add("../pods", "a/b")
	f.Add("n1%2f", "\x00")
	f.Add("", "..")
	f.Fuzz(func(t *testing.T, node, run string) {
		body, err := json.Marshal(Request{Node: node, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		c := newCluster("", map[string]string{"simrun/worker": "true"})
		_, err = call(t, c, planner, string(body))
		if status := fault.KindOf(err).Status(); err != nil && status >= 500 {
			t.Fatalf("%d: %v", status, err)
		}
		if err == nil && (c.node.Labels["simrun/reserved"] != run || strings.ContainsAny(node+run, "/% \x00")) {
			t.Errorf("node %q was reserved for %q", node, run)
		}
	})
}
