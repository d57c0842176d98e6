package status_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/status/recorded"
)

const (
	oneWorkflow  = `{"kind":"Workflow","metadata":{"name":"a"},"status":{"phase":"Running"}}`
	twoWorkflows = `{"kind":"List","items":[` + oneWorkflow + `,{"kind":"Workflow","metadata":{"name":"b"}}]}`
)

func TestReadRun(t *testing.T) {
	asYAML, err := yaml.JSONToYAML([]byte(twoWorkflows))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, run, want string }{
		"one object":           {oneWorkflow, "", "a"},
		"one object, its name": {oneWorkflow, "a", "a"},
		"a List":               {twoWorkflows, "b", "b"},
		"a WorkflowList":       {`{"kind":"WorkflowList","items":[{"metadata":{"name":"c"}}]}`, "", "c"},
		"YAML":                 {string(asYAML), "b", "b"},
		"YAML's flow style":    {`{kind: Workflow, metadata: {name: a}}`, "", "a"},
		"a byte order of ws":   {"\n  " + oneWorkflow + "\n", "", "a"},
	} {
		w, _, err := status.ReadRun("f", []byte(c.data), c.run)
		if err != nil || w.Metadata.Name != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A run's helpers stand beside it, as `kubectl get -l runhook/run=a` lists them.
func TestReadRunFindsItsHelpers(t *testing.T) {
	helper := func(of, n string) string {
		return `{"kind":"Workflow","metadata":{"name":"` + of + `-extra-fit-` + n + `","labels":{"runhook/run":"` + of + `","runhook/extra-of":"` + of + `","runhook/task":"fit","runhook/extra":"` + n + `"}},"status":{"phase":"Running"}}`
	}
	list := `{"kind":"List","items":[` + helper("a", "0") + `,` + oneWorkflow + `,` + helper("a", "1") + `,` + helper("b", "0") + `]}`
	for _, run := range []string{"", "a"} {
		w, helpers, err := status.ReadRun("f", []byte(list), run)
		if err != nil || len(helpers) != 2 {
			t.Fatalf("%q: %d helpers, %v", run, len(helpers), err)
		}
		tasks := status.Of(w, helpers, nil).Tasks
		for _, name := range []string{"fit.fit-extra-0", "fit.fit-extra-1"} {
			if tasks[name].Phase == "" {
				t.Errorf("%q: there is no %s in %v", run, name, tasks)
			}
		}
	}
	if w, helpers, err := status.ReadRun("f", []byte(list), "a-extra-fit-1"); err != nil || w.Metadata.Name != "a-extra-fit-1" || len(helpers) > 0 {
		t.Errorf("a helper by its name: %d helpers, %v", len(helpers), err)
	}
}

func TestReadPodsRefusesAnEndlessQuantity(t *testing.T) {
	pod := `{"kind":"Pod","spec":{"containers":[{"resources":{"requests":{"cpu":"99999999999999999999e999999999"}}}]}}`
	if _, err := status.ReadPods("f", []byte(pod)); fault.KindOf(err) != fault.Malformed || !strings.HasPrefix(err.Error(), "f: items[0]: not a Pod: ") {
		t.Errorf("%v", err)
	}
}

func TestReadRefusesWhatIsAskedForNot(t *testing.T) {
	for name, c := range map[string]struct {
		data, run string
		want      fault.Kind
		says      string
	}{
		"nothing":          {" \n", "", fault.Malformed, "f: empty"},
		"no JSON":          {`{"kind":`, "", fault.Malformed, "f: neither JSON nor YAML"},
		"a text":           {`hello`, "", fault.Malformed, "f: not a Kubernetes object"},
		"another kind":     {`{"kind":"Pod","metadata":{"name":"a"}}`, "", fault.Invalid, `f: kind is "Pod", a Workflow or a List of them is asked for`},
		"a List of pods":   {`{"kind":"List","items":[{"kind":"Pod"}]}`, "", fault.Invalid, `f: items[0].kind is "Pod", want Workflow`},
		"no items":         {`{"kind":"List"}`, "", fault.Invalid, "f: items is missing"},
		"an empty List":    {`{"kind":"List","items":[]}`, "", fault.Invalid, "f: holds no Workflow"},
		"which?":           {twoWorkflows, "", fault.Invalid, "f: holds 2 Workflows, choose one with --run: a, b"},
		"no such":          {twoWorkflows, "c", fault.NotFound, `f: no Workflow is named "c", there is: a, b`},
		"no such, of one":  {oneWorkflow, "c", fault.NotFound, `f: no Workflow is named "c", there is: a`},
		"no name":          {`{"kind":"Workflow"}`, "", fault.Invalid, "f: not a Workflow: metadata.name is missing"},
		"a wrong type":     {`{"kind":"Workflow","metadata":{"name":"a"},"status":{"nodes":[]}}`, "", fault.Malformed, "f: not a Workflow: "},
		"a bad time":       {`{"kind":"Workflow","metadata":{"name":"a"},"status":{"startedAt":"noon"}}`, "", fault.Malformed, "f: not a Workflow: "},
		"bad nodes":        {string(packed("%%%")), "", fault.Malformed, "f: status.compressedNodes: not base64"},
		"bad nodes, in it": {`{"kind":"List","items":[` + string(packed("%%%")) + `]}`, "", fault.Malformed, "f: status.compressedNodes: not base64"},
	} {
		w, _, err := status.ReadRun("f", []byte(c.data), c.run)
		if fault.KindOf(err) != c.want || w != nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s: %s", name, err, c.want, c.says)
		}
	}
}

func TestReadPods(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want int
		kind fault.Kind
	}{
		"one":        {`{"kind":"Pod","metadata":{"name":"p"}}`, 1, ""},
		"a List":     {`{"kind":"List","items":[{"kind":"Pod"},{"kind":"Pod"}]}`, 2, ""},
		"a PodList":  {`{"kind":"PodList","items":[{}]}`, 1, ""},
		"none":       {`{"kind":"PodList","items":[]}`, 0, ""},
		"Workflows":  {twoWorkflows, 0, fault.Invalid},
		"a bad pod":  {`{"kind":"PodList","items":[{"spec":7}]}`, 0, fault.Malformed},
		"a bad item": {`{"kind":"PodList","items":[7]}`, 0, fault.Malformed},
	} {
		pods, err := status.ReadPods("f", []byte(c.data))
		if fault.KindOf(err) != c.kind || len(pods) != c.want {
			t.Errorf("%s: %d pods, %v", name, len(pods), err)
		}
	}
}

func TestCausesAsJSON(t *testing.T) {
	m := recorded.Read(t, "preempt-recent")
	w := m.Workflow(t, "07-after-wf.json", "preempt-recent-lo")
	got := status.CausesOf(w, m.Pods(t, "02-preempting-pods.json"), m.Pods(t, "03-preempting2-pods.json"), m.Pods(t, "07-after-pods.json"))
	want := `{"run":"preempt-recent-lo","attempts":[` +
		`{"node":"after","task":"after","attempt":0,"phase":"Succeeded","cause":null,"reason":"","exitCode":0,"interrupted":false,"restarted":false,"pod":"preempt-recent-lo-after-466215690","host":"node1"},` +
		`{"node":"train","task":"train","attempt":0,"phase":"Failed","cause":"preempted","reason":"WorkloadEvictedDueToPreempted","exitCode":143,"interrupted":true,"restarted":true,"pod":"preempt-recent-lo-train-702284002","host":"node1"},` +
		`{"node":"train","task":"train","attempt":0,"phase":"Succeeded","cause":null,"reason":"","exitCode":0,"interrupted":false,"restarted":false,"pod":"preempt-recent-lo-train-702284002","host":"node1"}]}`
	if text := string(marshal(t, got)); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// The name that is computed for a pod is the one that Argo gave it.
func TestPodNamesAreArgos(t *testing.T) {
	compared := 0
	for name, last := range map[string]string{"fanout": "04-after", "preempt-retry-always": "07-after", "success-dag": "03-after", "stop": "05-after"} {
		m := recorded.Read(t, name)
		for _, pod := range m.Pods(t, last+"-pods.json") {
			w := m.Workflow(t, last+"-wf.json", pod.Labels[cause.WorkflowLabel])
			for _, a := range status.Attempts(w, nil) {
				if a.NodeID != pod.Annotations[cause.NodeAnnotation] {
					continue
				}
				compared++
				if a.Pod != pod.Name {
					t.Errorf("%s: %s, want %s", a.Node, a.Pod, pod.Name)
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d pods are compared", compared)
	}
}

func FuzzWorkflow(f *testing.F) {
	f.Add([]byte(oneWorkflow))
	f.Add([]byte(twoWorkflows))
	f.Add([]byte(`{"kind":"Workflow","metadata":{"name":"w","labels":{"runhook/run":"a"}},"spec":{"entrypoint":"run","templates":[{"name":"run","dag":{"tasks":[{"name":"a","template":"b","depends":"x.Failed"},{"name":"b","template":"run"}]}}]},"status":{"nodes":{"w":{"name":"w","type":"DAG"},"r":{"name":"w.a","type":"Retry","children":["r0"]},"r0":{"name":"w.a(0)","type":"Pod","phase":"Failed"}}}}`))
	f.Add(packed(gzipNodes))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, _, err := status.ReadRun("f", data, "")
		if err != nil {
			return
		}
		status.Of(w, []*status.Workflow{w}, nil)
		status.CausesOf(w)
	})
}

func FuzzPods(f *testing.F) {
	w, _, err := status.ReadRun("f", []byte(`{"kind":"Workflow","metadata":{"name":"w"},"status":{"nodes":{"w":{"name":"w","type":"Pod","phase":"Running"}}}}`), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"kind":"PodList","items":[{"metadata":{"name":"w","uid":"1","deletionTimestamp":"2026-11-30T09:00:00Z","annotations":{"workflows.argoproj.io/node-id":"w"}},"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}],"containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":143}}}]}},{"metadata":{"name":"w","uid":"2"},"spec":{"schedulingGates":[{"name":"x"}]}}]}`))
	f.Add([]byte(`{"kind":"Pod","metadata":{"name":"p"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		pods, err := status.ReadPods("f", data)
		if err != nil {
			return
		}
		status.Of(w, nil, pods)
		status.CausesOf(w, pods, pods)
	})
}
