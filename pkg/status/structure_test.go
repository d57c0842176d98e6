package status_test

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
)

// node is one line of a small Workflow: name, type, phase, then key=value.
type node struct {
	name, kind, phase, message string
	boundary                   string
	children                   []string
	exit                       string
}

// workflow makes the object of a small Workflow named w; the id of a node is
// its name.
func workflow(t testing.TB, phase string, nodes []node, change func(map[string]any)) *status.Workflow {
	t.Helper()
	all := map[string]any{}
	for i, n := range nodes {
		fields := map[string]any{
			"id": n.name, "name": n.name, "displayName": n.name[strings.LastIndex(n.name, ".")+1:], "type": n.kind, "phase": n.phase,
			"message": n.message, "boundaryID": n.boundary, "children": n.children, "startedAt": fmt.Sprintf("2026-11-30T09:00:%02dZ", i%60), "finishedAt": nil,
		}
		if n.exit != "" {
			fields["outputs"] = map[string]string{"exitCode": n.exit}
		}
		all[n.name] = fields
	}
	object := map[string]any{
		"kind": "Workflow", "metadata": map[string]any{"name": "w", "uid": "uid-w", "resourceVersion": "1"},
		"spec": map[string]any{"entrypoint": "main"}, "status": map[string]any{"phase": phase, "nodes": all},
	}
	if change != nil {
		change(object)
	}
	w, err := status.Decode(marshal(t, object))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func phases(s status.Status) map[string]status.Phase {
	got := map[string]status.Phase{"": s.Phase}
	for name, task := range s.Tasks {
		got[name] = task.Phase
	}
	return got
}

func TestTasksOfEveryKindOfNode(t *testing.T) {
	root := func(phase string) node { return node{name: "w", kind: "DAG", phase: phase} }
	for name, c := range map[string]struct {
		phase string
		nodes []node
		want  map[string]status.Phase // "": the run
	}{
		"one pod":                         {"Running", []node{{name: "w", kind: "Pod", phase: "Running"}}, map[string]status.Phase{"": "Running", "w": "Running"}},
		"one pod with retries":            {"Running", []node{{name: "w", kind: "Retry", phase: "Running", children: []string{"w(0)"}}, {name: "w(0)", kind: "Pod", phase: "Pending"}}, map[string]status.Phase{"": "Pending", "w": "Pending"}},
		"not started":                     {"", nil, map[string]status.Phase{"": "Pending"}},
		"waits for parallelism":           {"Pending", nil, map[string]status.Phase{"": "Pending"}},
		"between two tasks":               {"Running", []node{root("Running"), {name: "w.a", kind: "Pod", phase: "Succeeded", boundary: "w"}}, map[string]status.Phase{"": "Pending", "a": "Succeeded"}},
		"one runs, one waits":             {"Running", []node{root("Running"), {name: "w.a", kind: "Pod", phase: "Running", boundary: "w"}, {name: "w.b", kind: "Pod", phase: "Pending", boundary: "w"}}, map[string]status.Phase{"": "Running", "a": "Running", "b": "Pending"}},
		"steps":                           {"Running", []node{{name: "w", kind: "Steps", phase: "Running"}, {name: "w[0]", kind: "StepGroup", phase: "Running", boundary: "w"}, {name: "w[0].a", kind: "Pod", phase: "Running", boundary: "w"}}, map[string]status.Phase{"": "Running", "[0].a": "Running"}},
		"a nested DAG waits":              {"Running", []node{root("Running"), {name: "w.g", kind: "DAG", phase: "Running", boundary: "w"}, {name: "w.g.a", kind: "Pod", phase: "Pending", boundary: "w.g"}, {name: "w.g.b", kind: "Pod", phase: "Succeeded", boundary: "w.g"}}, map[string]status.Phase{"": "Pending", "g": "Pending", "g.a": "Pending", "g.b": "Succeeded"}},
		"items":                           {"Running", []node{root("Running"), {name: "w.f", kind: "TaskGroup", phase: "Running", boundary: "w", children: []string{"w.f(0:x)", "w.f(1:y)"}}, {name: "w.f(0:x)", kind: "Pod", phase: "Running", boundary: "w"}, {name: "w.f(1:y)", kind: "Pod", phase: "Failed", boundary: "w"}}, map[string]status.Phase{"": "Running", "f": "Running", "f(0:x)": "Running", "f(1:y)": "Failed"}},
		"suspended":                       {"Running", []node{root("Running"), {name: "w.ok", kind: "Suspend", phase: "Running", boundary: "w"}}, map[string]status.Phase{"": "Pending", "ok": "Pending"}},
		"skipped, omitted":                {"Succeeded", []node{root("Succeeded"), {name: "w.a", kind: "Skipped", phase: "Skipped", boundary: "w"}, {name: "w.b", kind: "Skipped", phase: "Omitted", boundary: "w"}}, map[string]status.Phase{"": "Succeeded", "a": "Skipped", "b": "Skipped"}},
		"daemon":                          {"Running", []node{root("Running"), {name: "w.d", kind: "Pod", phase: "Running", boundary: "w"}, {name: "w.a", kind: "Pod", phase: "Pending", boundary: "w"}}, map[string]status.Phase{"": "Running", "d": "Running", "a": "Pending"}},
		"exit handler":                    {"Running", []node{root("Failed"), {name: "w.a", kind: "Pod", phase: "Error", boundary: "w"}, {name: "w.onExit", kind: "Pod", phase: "Running"}}, map[string]status.Phase{"": "Running", "a": "Failed", "onExit": "Running"}},
		"container set":                   {"Running", []node{root("Running"), {name: "w.a", kind: "Pod", phase: "Running", boundary: "w"}, {name: "w.a.x", kind: "Container", phase: "Running", boundary: "w.a"}}, map[string]status.Phase{"": "Running", "a": "Running"}},
		"HTTP template":                   {"Running", []node{root("Running"), {name: "w.h", kind: "HTTP", phase: "Running", boundary: "w"}}, map[string]status.Phase{"": "Running", "h": "Running"}},
		"never ended of an ended run":     {"Failed", []node{root("Failed"), {name: "w.a", kind: "Pod", phase: "Running", boundary: "w"}, {name: "w.b", kind: "Pod", phase: "Pending", boundary: "w"}}, map[string]status.Phase{"": "Failed", "a": "Stopped", "b": "Stopped"}},
		"a nested DAG was stopped":        {"Running", []node{root("Running"), {name: "w.g", kind: "DAG", phase: "Failed", boundary: "w"}, {name: "w.g.a", kind: "Pod", phase: "Failed", message: "workflow shutdown with strategy:  Stop", boundary: "w.g"}}, map[string]status.Phase{"": "Pending", "g": "Stopped", "g.a": "Stopped"}},
		"a nested DAG failed, then stops": {"Running", []node{root("Running"), {name: "w.g", kind: "DAG", phase: "Failed", boundary: "w"}, {name: "w.g.a", kind: "Pod", phase: "Failed", message: "workflow shutdown with strategy:  Stop", boundary: "w.g"}, {name: "w.g.b", kind: "Pod", phase: "Failed", boundary: "w.g"}}, map[string]status.Phase{"": "Pending", "g": "Failed", "g.a": "Stopped", "g.b": "Failed"}},
		"a retried DAG":                   {"Running", []node{root("Running"), {name: "w.r", kind: "Retry", phase: "Running", boundary: "w", children: []string{"w.r(0)"}}, {name: "w.r(0)", kind: "DAG", phase: "Running", boundary: "w"}, {name: "w.r(0).a", kind: "Pod", phase: "Running", boundary: "w.r(0)"}}, map[string]status.Phase{"": "Running", "r": "Running", "r(0).a": "Running"}},
		"it is its own part":              {"Running", []node{root("Running"), {name: "w.g", kind: "DAG", phase: "Running", boundary: "w.g"}}, map[string]status.Phase{"": "Pending", "g": "Pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Of(workflow(t, c.phase, c.nodes, nil), nil, nil)
			if diff := cmp.Diff(c.want, phases(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// retried is a Retry node `a` whose attempts ended as told; the last one is in
// the given phase.
func retried(retry string, attempts ...node) []node {
	nodes := []node{{name: "w", kind: "DAG", phase: "Running"}, {name: "w.a", kind: "Retry", phase: retry, boundary: "w", message: "Backoff for 8 seconds"}}
	for i, n := range attempts {
		n.name, n.kind, n.boundary = fmt.Sprintf("w.a(%d)", i), "Pod", "w"
		nodes[1].children = append([]string{n.name}, nodes[1].children...) // Argo's order is not relied on
		nodes = append(nodes, n)
	}
	return nodes
}

func TestPhaseOfRetriedTask(t *testing.T) {
	failed := func(message, exit string) node { return node{phase: "Failed", message: message, exit: exit} }
	pending, gone := node{phase: "Pending"}, node{phase: "Error", message: "pod deleted"}
	for name, c := range map[string]struct {
		attempts []node
		want     status.Phase
		waiting  status.Reason
	}{
		"first waits":                      {[]node{pending}, status.Pending, ""},
		"first runs":                       {[]node{{phase: "Running"}}, status.Running, ""},
		"after pod deleted":                {[]node{gone, pending}, status.Preempted, ""},
		"after exit 143":                   {[]node{failed("main: Error (exit code 143)", "143"), pending}, status.Preempted, ""},
		"after a kubelet's eviction":       {[]node{failed("The node was low on resource: memory.", ""), pending}, status.Preempted, ""},
		"after exit 1":                     {[]node{failed("main: Error (exit code 1)", "1"), pending}, status.Retrying, ""},
		"after OOM":                        {[]node{failed("main: OOMKilled (exit code 137)", "137"), pending}, status.Retrying, ""},
		"after a deadline, 143":            {[]node{failed("Pod was active on the node longer than the specified deadline", "143"), pending}, status.Retrying, ""},
		"the last child counts":            {[]node{gone, failed("main: Error (exit code 1)", "1"), pending}, status.Retrying, ""},
		"backs off after exit 1":           {[]node{failed("main: Error (exit code 1)", "1")}, status.Retrying, status.RetryBackoff},
		"backs off after pod deleted":      {[]node{gone}, status.Preempted, status.RetryBackoff},
		"runs again":                       {[]node{gone, {phase: "Running"}}, status.Running, ""},
		"stopped while it backed off":      {[]node{failed("workflow shutdown with strategy:  Stop", "")}, status.Stopped, ""},
		"eleven attempts, sorted by value": {slices.Concat(slices.Repeat([]node{gone}, 10), []node{{phase: "Running"}}), status.Running, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Of(workflow(t, "Running", retried("Running", c.attempts...), nil), nil, nil).Tasks["a"]
			if got.Phase != c.want {
				t.Errorf("phase %s, want %s", got.Phase, c.want)
			}
			if (got.Waiting == nil) != (c.waiting == "") || (got.Waiting != nil && got.Waiting.Reason != c.waiting) {
				t.Errorf("waiting %+v, want %q", got.Waiting, c.waiting)
			}
		})
	}
}

// A Retry node's own message hides the cause: the last child's is told.
func TestMessageOfRetriedTaskIsItsLastChilds(t *testing.T) {
	nodes := retried("Failed", node{phase: "Failed", message: "main: OOMKilled (exit code 137)", exit: "137"})
	nodes[1].message = "No more retries left"
	got := status.Of(workflow(t, "Failed", nodes, nil), nil, nil)
	if got.Tasks["a"].Message != "main: OOMKilled (exit code 137)" {
		t.Errorf("message %q", got.Tasks["a"].Message)
	}
	attempts := got.Attempts["a"]
	if len(attempts) != 1 || !attempts[0].OOM || *attempts[0].ExitCode != 137 || attempts[0].Cause != "oom" {
		t.Errorf("attempts %+v", attempts)
	}
}

func TestRunThatWasStopped(t *testing.T) {
	for name, c := range map[string]struct {
		phase, shutdown, message string
		want                     status.Phase
	}{
		"by its message":    {"Failed", "", "Stopped with strategy 'Terminate'", status.Stopped},
		"by its spec":       {"Failed", "Stop", "", status.Stopped},
		"it succeeded":      {"Succeeded", "Stop", "", status.Succeeded},
		"it goes on":        {"Running", "Stop", "", status.Pending},
		"nobody stopped it": {"Error", "", "child failed", status.Failed},
	} {
		w := workflow(t, c.phase, nil, func(o map[string]any) {
			o["spec"].(map[string]any)["shutdown"] = c.shutdown
			o["status"].(map[string]any)["message"] = c.message
		})
		if got := status.Of(w, nil, nil); got.Phase != c.want || got.Message != c.message {
			t.Errorf("%s: %s %q, want %s", name, got.Phase, got.Message, c.want)
		}
	}
}

func TestForeignWorkflowThatReliesOnTheDefaultPolicyIsTold(t *testing.T) {
	template := func(strategy string) func(map[string]any) {
		return func(o map[string]any) {
			var retry map[string]any
			if err := json.Unmarshal([]byte(strategy), &retry); err != nil {
				t.Fatal(err)
			}
			o["spec"].(map[string]any)["templates"] = []any{map[string]any{"name": "train", "retryStrategy": retry}}
		}
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		told   bool
	}{
		"no policy":     {template(`{"limit": "2"}`), true},
		"a policy":      {template(`{"limit": "2", "retryPolicy": "Always"}`), false},
		"an expression": {template(`{"expression": "true"}`), false},
		"no retry":      {template(`null`), false},
		"by its reference": {func(o map[string]any) {
			o["status"].(map[string]any)["storedTemplates"] = map[string]any{"x": map[string]any{"name": "train", "retryStrategy": map[string]any{"limit": 2}}}
		}, true},
		"ours": {func(o map[string]any) {
			template(`{"limit": "2"}`)(o)
			o["metadata"].(map[string]any)["labels"] = map[string]string{"runhook/run": "a"}
		}, false},
	} {
		got := status.Of(workflow(t, "Running", nil, c.change), nil, nil)
		if told := strings.Contains(got.Message, "template train retries with Argo's default policy"); told != c.told {
			t.Errorf("%s: message %q", name, got.Message)
		}
	}
}

// Two tasks of another's Workflow may share a name: their attempts may not.
func TestAttemptsAreListedByTaskNameUnlessTwoShareIt(t *testing.T) {
	failed := func(name, boundary string) node {
		return node{name: name, kind: "Pod", phase: "Failed", message: "main: Error (exit code 2)", boundary: boundary}
	}
	got := status.Of(workflow(t, "Running", []node{
		{name: "w", kind: "DAG", phase: "Running"}, {name: "w.g", kind: "DAG", phase: "Running", boundary: "w"}, {name: "w.h", kind: "DAG", phase: "Running", boundary: "w"},
		failed("w.g.x", "w.g"), failed("w.h.x", "w.h"), failed("w.g.y", "w.g"),
	}, nil), nil, nil)
	var keys []string
	for key := range got.Attempts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if diff := cmp.Diff([]string{"g.x", "h.x", "y"}, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResourceVersionCoversRunHelpersAndPods(t *testing.T) {
	w := workflow(t, "Running", nil, nil)
	pod := corev1.Pod{}
	pod.Name, pod.ResourceVersion = "p", "7"
	newer := pod
	newer.ResourceVersion = "8"
	seen := map[string]bool{}
	for _, s := range []status.Status{status.Of(w, nil, nil), status.Of(w, []*status.Workflow{w}, nil), status.Of(w, nil, []corev1.Pod{pod}), status.Of(w, nil, []corev1.Pod{newer})} {
		if seen[s.ResourceVersion] {
			t.Errorf("%s stands for two states", s.ResourceVersion)
		}
		seen[s.ResourceVersion] = true
	}
	if a, b := status.Of(w, nil, []corev1.Pod{pod, newer}), status.Of(w, nil, []corev1.Pod{newer, pod}); a.ResourceVersion != b.ResourceVersion {
		t.Error("the order of a list matters")
	}
}

// Whoever may write a Workflow may nest its nodes as deep as its size allows.
func TestNodesNestedWithoutEndAreNotFollowed(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20)) // a stack that is too deep ends the test's process
	nodes := []node{{name: "w", kind: "DAG", phase: "Running"}}
	for i := range 20_000 {
		nodes = append(nodes, node{name: fmt.Sprintf("w.%d", i), kind: "DAG", phase: "Running", boundary: fmt.Sprintf("w.%d", i-1)})
	}
	if got := status.Of(workflow(t, "Running", nodes, nil), nil, nil); got.Phase != status.Pending {
		t.Errorf("phase %s", got.Phase)
	}
}

// A template that is its own task would make a plan without end.
func TestPlanOfARecursiveTemplateEnds(t *testing.T) {
	w := workflow(t, "Running", nil, func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]string{"runhook/run": "a"}
		tasks := []any{map[string]string{"name": "a", "template": "main"}, map[string]string{"name": "b", "template": "main"}}
		o["spec"].(map[string]any)["templates"] = []any{map[string]any{"name": "main", "dag": map[string]any{"tasks": tasks}}}
	})
	if got := status.Of(w, nil, nil); len(got.Tasks) != 2 {
		t.Errorf("%d tasks", len(got.Tasks))
	}
}
