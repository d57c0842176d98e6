package status_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

// rendered is the Workflow of a run: fetch, then fit with two workers, a merge
// and up to two helpers, then report.
func rendered(t testing.TB) *wfv1.Workflow {
	t.Helper()
	program := run.Program{Image: "registry.lab/acme/pump:1", Command: []string{"python"}, Resources: map[string]run.Quantity{"cpu": "1", "memory": "1Gi"}}
	w, err := argo.Render(&run.Run{ID: "w", Tasks: []run.Task{
		{ID: "fetch", Program: program},
		{ID: "fit", Needs: []string{"fetch"}, Program: program, Split: &run.Split{Workers: 2, Extra: 2, Merge: &program}},
		{ID: "report", Needs: []string{"fit"}, Program: program},
	}}, argo.Options{Namespace: "runs", ServiceAccount: "runner", Retries: 30, Workers: "simrun/worker=true", Reservation: "simrun/reserved", PodLabel: "runhook/run"})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// withNodes gives the Workflow in a phase, with nodes as Argo would make them.
func withNodes(t testing.TB, w *wfv1.Workflow, phase string, nodes ...node) *status.Workflow {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(marshal(t, w), &object); err != nil {
		t.Fatal(err)
	}
	return workflow(t, phase, nodes, func(o map[string]any) {
		o["metadata"], o["spec"] = object["metadata"], object["spec"]
		o["metadata"].(map[string]any)["name"] = w.Name
	})
}

// task gives a Retry node and its attempts, `Phase message`, oldest first.
func task(name, boundary, phase string, attempts ...string) []node {
	nodes := []node{{name: name, kind: "Retry", phase: phase, boundary: boundary}}
	for i, attempt := range attempts {
		n := node{name: fmt.Sprintf("%s(%d)", name, i), kind: "Pod", phase: attempt, boundary: boundary}
		if attempt == "Failed" {
			n.message, n.exit = "main: Error (exit code 1)", "1"
		}
		nodes[0].children = append(nodes[0].children, n.name)
		nodes = append(nodes, n)
	}
	return nodes
}

func waiting(reason status.Reason, detail string) *status.Waiting {
	return &status.Waiting{Reason: reason, Detail: detail}
}

// A run's own tasks are told before Argo has a node for them.
func TestRunThatJustStarted(t *testing.T) {
	got := status.Of(withNodes(t, rendered(t), "Running", append(task("w.fetch", "w", "Running", "Running"), node{name: "w", kind: "DAG", phase: "Running"})...), nil, nil)
	want := map[string]status.Task{
		"fetch":         {Phase: status.Running},
		"fit":           {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fetch"), Done: new(0), Of: new(2)},
		"fit.fit-0":     {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fetch")},
		"fit.fit-1":     {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fetch")},
		"fit.fit-merge": {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fit-0, fit-1")},
		"report":        {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fit")},
	}
	if diff := cmp.Diff(want, got.Tasks); diff != "" || got.Phase != status.Running {
		t.Errorf("%s (-want +got):\n%s", got.Phase, diff)
	}
}

func TestRunBeforeArgoSawIt(t *testing.T) {
	got := status.Of(withNodes(t, rendered(t), ""), nil, nil)
	want := status.Task{Phase: status.Pending, Waiting: waiting(status.Starting, "")}
	if diff := cmp.Diff(want, got.Tasks["fetch"]); diff != "" || got.Phase != status.Pending || got.Started != nil {
		t.Errorf("%s (-want +got):\n%s", got.Phase, diff)
	}
}

// split is a run whose fetch is done, and whose worker 0 failed once.
func split(phase string, fit string, more ...node) []node {
	nodes := append(task("w.fetch", "w", "Succeeded", "Succeeded"), node{name: "w", kind: "DAG", phase: phase}, node{name: "w.fit", kind: "DAG", phase: fit, boundary: "w"})
	return append(nodes, more...)
}

func TestSplitTaskCountsItsWorkers(t *testing.T) {
	nodes := split("Running", "Running", append(task("w.fit.fit-0", "w.fit", "Succeeded", "Failed", "Succeeded"), task("w.fit.fit-1", "w.fit", "Running", "Failed", "Pending")...)...)
	got := status.Of(withNodes(t, rendered(t), "Running", nodes...), nil, nil)
	want := map[string]status.Task{
		"fetch":         {Phase: status.Succeeded},
		"fit":           {Phase: status.Retrying, Done: new(1), Of: new(2)},
		"fit.fit-0":     {Phase: status.Succeeded},
		"fit.fit-1":     {Phase: status.Retrying},
		"fit.fit-merge": {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fit-1")},
		"report":        {Phase: status.Pending, Waiting: waiting(status.Dependencies, "fit")},
	}
	if diff := cmp.Diff(want, got.Tasks); diff != "" || got.Phase != status.Retrying {
		t.Errorf("%s (-want +got):\n%s", got.Phase, diff)
	}
	if a := got.Attempts; len(a) != 2 || len(a["fit-0"]) != 1 || len(a["fit-1"]) != 1 || a["fit-1"][0].Cause != cause.Application {
		t.Errorf("attempts %+v", a)
	}
}

// What never ended of a run that has ended is Stopped.
func TestRunThatFailedEarly(t *testing.T) {
	nodes := split("Failed", "Failed", append(task("w.fit.fit-0", "w.fit", "Failed", "Failed"), task("w.fit.fit-1", "w.fit", "Running", "Running")...)...)
	got := status.Of(withNodes(t, rendered(t), "Failed", nodes...), nil, nil)
	want := map[string]status.Phase{
		"": "Failed", "fetch": "Succeeded", "fit": "Failed", "fit.fit-0": "Failed", "fit.fit-1": "Stopped", "fit.fit-merge": "Stopped", "report": "Stopped",
	}
	if diff := cmp.Diff(want, phases(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Helpers are shown inside of their task and never count for the run.
func TestHelpersAreShownAndDoNotCount(t *testing.T) {
	parent := rendered(t)
	var helpers []*status.Workflow
	for n, nodes := range [][]node{
		task("w-extra-fit-0", "", "Running", "Failed", "Running"),
		task("w-extra-fit-1", "", "Running", "Pending"),
	} {
		helper, err := argo.Extra(parent, "fit", n, time.Hour, "low")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("w-extra-fit-%d", n); helper.Name != want {
			t.Fatalf("helper %s, want %s", helper.Name, want)
		}
		helpers = append(helpers, withNodes(t, helper, "Running", nodes...))
	}
	nodes := split("Running", "Running", append(task("w.fit.fit-0", "w.fit", "Running", "Pending"), task("w.fit.fit-1", "w.fit", "Running", "Pending")...)...)
	got := status.Of(withNodes(t, parent, "Running", nodes...), helpers, nil)
	if got.Phase != status.Pending || *got.Tasks["fit"].Of != 2 {
		t.Errorf("run %s, fit %+v: helpers count", got.Phase, got.Tasks["fit"])
	}
	if a, b := got.Tasks["fit.fit-extra-0"], got.Tasks["fit.fit-extra-1"]; a.Phase != status.Running || b.Phase != status.Pending {
		t.Errorf("helpers %+v, %+v", a, b)
	}
	if a := got.Attempts["fit-extra-0"]; len(a) != 1 || a[0].Cause != cause.Application {
		t.Errorf("attempts %+v", got.Attempts)
	}
}

// A program that gives 0 on SIGTERM is taken for a finished one by Argo.
func TestFalseSuccessIsSaid(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 30, 0, time.UTC)
	evidence := &cause.Evidence{}
	evidence.Add(cause.Entry{
		UID: "u1", Node: "w.fetch(0)", Pod: "pod-1", Host: "n1", Created: at.Add(-time.Minute), Deleted: at,
		Conditions: []cause.Condition{{Type: "TerminationTarget", Reason: "WorkloadEvictedDueToPreempted", At: at}},
		Main:       &cause.Exit{Code: 0, Finished: at.Add(time.Second)},
	})
	text, err := evidence.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w := rendered(t)
	w.Annotations = map[string]string{cause.Annotation: text}
	got := status.Of(withNodes(t, w, "Running", append(task("w.fetch", "w", "Succeeded", "Succeeded"), node{name: "w", kind: "DAG", phase: "Running"})...), nil, nil)
	want := []status.Attempt{{Phase: status.Succeeded, Cause: cause.Preempted, Reason: "WorkloadEvictedDueToPreempted", ExitCode: new(0), Interrupted: true, Pod: "pod-1", Host: "n1"}}
	opts := cmp.Options{cmpopts.IgnoreFields(status.Attempt{}, "Started", "Ended", "Task", "Key", "Node", "NodeID", "UID")}
	if diff := cmp.Diff(want, got.Attempts["fetch"], opts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.Attempts["fetch"][0].FalseSuccess() || got.Tasks["fetch"].Phase != status.Succeeded || got.Tasks["fetch"].Message == "" {
		t.Errorf("task %+v", got.Tasks["fetch"])
	}
}

// The annotation may be anybody's: a bad one costs the evidence, not the status.
func TestUnreadableEvidenceIsSaid(t *testing.T) {
	w := rendered(t)
	w.Annotations = map[string]string{cause.Annotation: "%%%"}
	got := status.Of(withNodes(t, w, "Running"), nil, nil)
	if got.Message == "" || got.Phase != status.Pending {
		t.Errorf("%s %q", got.Phase, got.Message)
	}
}

func TestStatusAsJSON(t *testing.T) {
	w := withNodes(t, rendered(t), "Running", append(task("w.fetch", "w", "Running", "Failed", "Running"), node{name: "w", kind: "DAG", phase: "Running"})...)
	got := status.Of(w, nil, nil)
	delete(got.Tasks, "report")
	for _, name := range []string{"fit.fit-0", "fit.fit-1", "fit.fit-merge"} {
		delete(got.Tasks, name)
	}
	got.ResourceVersion = "v"
	want := `{"run":"w","phase":"Running","message":"","started":null,"ended":null,"resourceVersion":"v","tasks":{` +
		`"fetch":{"phase":"Running"},"fit":{"phase":"Pending","waiting":{"reason":"dependencies","detail":"fetch"},"done":0,"of":2}},` +
		`"attempts":{"fetch":[{"attempt":0,"phase":"Failed","cause":"application","reason":"Error","exitCode":1,"oom":false,"interrupted":false,` +
		`"restarted":false,"message":"main: Error (exit code 1)","pod":"w-1945715667","host":"","started":"2026-11-30T09:00:01Z","ended":null}]}}`
	if diff := cmp.Diff(want, string(marshal(t, got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
