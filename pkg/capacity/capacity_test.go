package capacity

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
)

func settings(executor Amount) Settings {
	return Settings{
		Workers:     labels.SelectorFromSet(labels.Set{"simrun/worker": "true"}),
		Reservation: "simrun/reserved",
		RunLabel:    "runhook/run",
		Executor:    executor,
	}
}

func nodeOf(t testing.TB, text string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{}
	if err := yaml.UnmarshalStrict([]byte(text), node); err != nil {
		t.Fatal(err)
	}
	return node
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFromJSONAnswersTheCase(t *testing.T) {
	got, err := FromJSON(read(t, "nodes.json"), read(t, "pods.json"), settings(Amount{10, 64 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var have, want any
	if err := json.Unmarshal(encoded, &have); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read(t, "answer.json"), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// The pods of case 10: an executor of 100m, and P1 to P4.
func TestNodeOfCase10(t *testing.T) {
	tally := NewTally(settings(Amount{100, 0}))
	tally.AddNode(nodeOf(t, `{metadata: {name: n, labels: {simrun/worker: "true"}}, status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}}`))
	for _, pod := range []string{
		`{spec: {nodeName: n, containers: [` + app + `], initContainers: [` + sidecar + `, ` + plain + `], overhead: {cpu: 100m}}, status: {phase: Running}}`,
		`{spec: {nodeName: n, containers: [{name: a, resources: {requests: {cpu: "4"}}}]}, status: {phase: Succeeded}}`,
		`{spec: {nodeName: n, containers: [{name: a, resources: {limits: {cpu: "2"}}}]}, status: {phase: Running}}`,
		`{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {nodeName: n, containers: [{name: a, resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}`,
	} {
		tally.AddPod(podOf(t, pod))
	}
	got := tally.Nodes().Nodes
	if len(got) != 1 || got[0].Free.Cores != 3.7 || got[0].Cores != 3 {
		t.Errorf("got %+v, want 3.7 cores free, 3 for a planner", got)
	}
}

func TestListed(t *testing.T) {
	for name, tc := range map[string]struct {
		node string
		want bool
	}{
		"a worker":                    {`{metadata: {labels: {simrun/worker: "true"}}}`, true},
		"no label":                    {`{}`, false},
		"the label with another text": {`{metadata: {labels: {simrun/worker: "false"}}}`, false},
		"cordoned":                    {`{metadata: {labels: {simrun/worker: "true"}}, spec: {unschedulable: true}}`, false},
		"gpu=yes:NoSchedule":          {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}]}}`, false},
		"gpu=yes:NoExecute":           {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: gpu, value: "yes", effect: NoExecute}]}}`, false},
		"gpu=yes:PreferNoSchedule":    {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: gpu, value: "yes", effect: PreferNoSchedule}]}}`, true},
		"reserved":                    {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: simrun/reserved, value: a, effect: NoExecute}]}}`, true},
		"our key, another effect":     {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: simrun/reserved, value: a, effect: NoSchedule}]}}`, false},
		"our key, for nobody":         {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: simrun/reserved, effect: NoExecute}]}}`, false},
		"reserved, and gpu":           {`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: simrun/reserved, value: a, effect: NoExecute}, {key: gpu, effect: NoSchedule}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := settings(Amount{}).Listed(nodeOf(t, tc.node)); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestNoNodesIsAList(t *testing.T) {
	got, err := FromJSON([]byte(`{"kind":"NodeList","items":[]}`), []byte(`{"kind":"PodList"}`), settings(Amount{}))
	if err != nil {
		t.Fatal(err)
	}
	if encoded, _ := json.Marshal(got); string(encoded) != `{"nodes":[]}` {
		t.Errorf("got %s", encoded)
	}
}

func TestFromJSONSaysWhatIsWrong(t *testing.T) {
	const none = `{"kind":"List","items":[]}`
	for name, tc := range map[string]struct {
		nodes, pods string
		kind        fault.Kind
		says        []string
	}{
		"no JSON":        {"nodes:", none, fault.Malformed, []string{"nodes: not a list in JSON"}},
		"no list":        {`{"kind":"Node"}`, none, fault.Invalid, []string{`nodes: of kind "Node", but a List or NodeList is asked for`}},
		"swapped":        {`{"kind":"PodList","items":[]}`, none, fault.Invalid, []string{`nodes: of kind "PodList"`}},
		"pods for nodes": {`{"kind":"List","items":[{"kind":"Pod"}]}`, none, fault.Invalid, []string{`items[0].kind: "Pod", but only objects of kind Node are counted`}},
		"bad quantities": {none, `{"kind":"List","items":[{"kind":"Pod","spec":{"overhead":{"cpu":"lots"}}},{"kind":"Pod"},{"kind":"Pod","spec":{"overhead":{"cpu":"1x"}}}]}`,
			fault.Invalid, []string{"items[0]: not a Pod", "items[2]: not a Pod"}},
		"endless ones": {none, `{"kind":"List","items":[{"kind":"Pod","spec":{"overhead":{"cpu":"99999999999999999999e999999999"}}}]}`,
			fault.Invalid, []string{"items[0]: not a Pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromJSON([]byte(tc.nodes), []byte(tc.pods), settings(Amount{}))
			if fault.KindOf(err) != tc.kind {
				t.Fatalf("got %v, want kind %s", err, tc.kind)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func FuzzFromJSON(f *testing.F) {
	f.Add(read(f, "nodes.json"), read(f, "pods.json"))
	f.Add([]byte(`{"kind":"NodeList","items":[{"metadata":{"name":"n","labels":{"simrun/worker":"true"}},"status":{"allocatable":{"cpu":"1e9","memory":"9223372036854775807"}}}]}`),
		[]byte(`{"kind":"PodList","items":[{"spec":{"nodeName":"n","overhead":{"cpu":"-1","memory":"1e30"},"containers":[{"resources":{"limits":{"cpu":"0.1u"}}}]}}]}`))
	f.Add([]byte(`{"kind":"List","items":[null,{}]}`), []byte(`{"kind":"List","items":[null,3,"x"]}`))
	f.Fuzz(func(t *testing.T, nodes, pods []byte) {
		got, err := FromJSON(nodes, pods, settings(Amount{10, 64 << 20}))
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Malformed && kind != fault.Invalid {
				t.Fatalf("bytes are %s: %v", kind, err)
			}
			return
		}
		for i, node := range got.Nodes {
			if node.Cores < 0 || node.MemoryGiB < 0 || node.Free.Cores < 0 || node.Free.MemoryGiB < 0 {
				t.Errorf("below zero: %+v", node)
			}
			if float64(node.Cores) > node.Free.Cores || float64(node.MemoryGiB) > node.Free.MemoryGiB {
				t.Errorf("a planner gets more than is free: %+v", node)
			}
			if i > 0 && got.Nodes[i-1].Name >= node.Name {
				t.Errorf("%q comes after %q", node.Name, got.Nodes[i-1].Name)
			}
		}
	})
}
