package logs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
)

var ci = function.Caller{Name: "ci"}

func call(t *testing.T, c *cluster, call function.Call, body string) (function.Response, error) {
	t.Helper()
	call.Body = json.RawMessage(body)
	if call.Caller.Name == "" {
		call.Caller = ci
	}
	r := reader{c, lookup.Finder{Cluster: c, Foreign: owner.ForeignRead}, time.Millisecond}
	return function.Typed(r.handle)(t.Context(), call)
}

func logsOf(t *testing.T, c *cluster, body string) []Log {
	t.Helper()
	response, err := call(t, c, function.Call{}, body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Body.(Response).Logs
}

func TestLogsOfAWholeTask(t *testing.T) {
	got := logsOf(t, newCluster(), `{"run":"pump","task":"fit"}`)
	want := []Log{
		{Task: "fit", Worker: new(0), Attempt: 0, Terminated: true, Error: "the pod is gone, and its log with it: main: Error (exit code 1)"},
		{Task: "fit", Worker: new(0), Attempt: 1, Pod: "p-0-1", Terminated: true, Text: "one\ntwo\n"},
		{Task: "fit", Worker: new(0), Attempt: 2, Pod: "p-0-2", Text: "three\n"},
		{Task: "fit", Worker: new(1), Attempt: 0, Pod: "p-1-0", Error: "not started: starting: PodInitializing"},
	}
	if !strings.HasPrefix(got[0].Pod, "pump-t-") {
		t.Errorf("the pod that is gone was called %q", got[0].Pod)
	}
	got[0].Pod = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	c := newCluster()
	c.helpers = [][]byte{workflow("pump-extra-fit-0",
		map[string]string{"runhook/task": "fit", "runhook/extra": "0", "runhook/extra-of": "pump"},
		node{"h", "pump-extra-fit-0", "Pod", "Running", nil, ""})}
	c.pods = append(c.pods, pod("p-extra", "h", corev1.PodRunning, running))
	for body, want := range map[string][]string{
		`{"run":"pump","task":"fetch"}`:             {"fetch 0"},
		`{"run":"pump","task":"fit","worker":0}`:    {"fit/0 0", "fit/0 1", "fit/0 2"},
		`{"run":"pump","task":"fit-0"}`:             {"fit/0 0", "fit/0 1", "fit/0 2"},
		`{"run":"pump","task":"fit.fit-1"}`:         {"fit/1 0"},
		`{"run":"pump","task":"fit-extra-0"}`:       {"fit-extra-0 0"},
		`{"run":"pump","task":"fit-merge"}`:         {},
		`{"run":"pump","task":"fit"}`:               {"fit/0 0", "fit/0 1", "fit/0 2", "fit/1 0", "fit-extra-0 0"},
		`{"run":"pump","task":"fit","tail":1}`:      {"fit/0 0", "fit/0 1", "fit/0 2", "fit/1 0", "fit-extra-0 0"},
		`{"run":"pump","task":"fetch","tail":null}`: {"fetch 0"},
	} {
		got := []string{}
		for _, l := range logsOf(t, c, body) {
			name := l.Task
			if l.Worker != nil {
				name += fmt.Sprintf("/%d", *l.Worker)
			}
			got = append(got, fmt.Sprintf("%s %d", name, l.Attempt))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, want -, got +:\n%s", body, diff)
		}
	}
}

func TestTailAndLimit(t *testing.T) {
	c := newCluster()
	c.texts["p-0-1/main"] = strings.Repeat("é", limits.LogBytes) // two bytes each
	c.texts["p-0-2/main"] = "one\ntwo\nthree\n"
	got := logsOf(t, c, `{"run":"pump","task":"fit-0","tail":2}`)
	if got[2].Text != "two\nthree" || got[2].Truncated {
		t.Errorf("the last two lines are %q, truncated: %t", got[2].Text, got[2].Truncated)
	}
	if len(got[1].Text) != limits.LogBytes || !got[1].Truncated {
		t.Errorf("%d bytes, truncated: %t; want %d and true", len(got[1].Text), got[1].Truncated, limits.LogBytes)
	}
	c.texts["p-0-1/main"] = strings.Repeat("x", limits.LogBytes)
	if got := logsOf(t, c, `{"run":"pump","task":"fit-0"}`)[1]; got.Truncated || len(got.Text) != limits.LogBytes {
		t.Error("a log of just the limit is whole")
	}
}

func TestRefusals(t *testing.T) {
	for body, want := range map[string]struct {
		kind fault.Kind
		says string
	}{
		`{}`:             {fault.Invalid, "run: the name of a run is needed; task: is missing"},
		`{"run":"pump"}`: {fault.Invalid, "task: is missing"},
		`{"run":"pump","task":"fit","worker":-1}`:      {fault.Invalid, "worker: -1"},
		`{"run":"pump","task":"fit","tail":-1}`:        {fault.Invalid, "tail: -1"},
		`{"run":"pump","task":"fit","since":"1h"}`:     {fault.Invalid, "since"},
		`{"run":"pump","task":"nope"}`:                 {fault.NotFound, "run pump has no task nope"},
		`{"run":"pump","task":"fit","worker":7}`:       {fault.NotFound, "run pump has no worker 7 of a task fit"},
		`{"run":"pump","task":"fetch","worker":0}`:     {fault.NotFound, "run pump has no worker 0 of a task fetch"},
		`{"run":"other","task":"fit"}`:                 {fault.NotFound, "run other does not exist"},
		`{"run":"../pods","task":"fit","follow":true}`: {fault.Invalid, "run"},
	} {
		_, err := call(t, newCluster(), function.Call{}, body)
		if fault.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: got %v, want %s that says %q", body, err, want.kind, want.says)
		}
	}
	if _, err := call(t, newCluster(), function.Call{Caller: function.Caller{Name: "cd"}}, `{"run":"pump","task":"fit"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another's run: got %v, want what is said of one that does not exist", err)
	}
}

// Nothing that cannot be read hides what can.
func TestWhatCannotBeReadSaysSoInItsOwnEntry(t *testing.T) {
	c := newCluster()
	c.pods[0].Spec.NodeName = "dead"
	c.pods[1].Spec.NodeName = "dead"
	c.faults["p-0-1/main"] = away()
	got := logsOf(t, c, `{"run":"pump","task":"fit","worker":0}`)
	if want := "node dead does not give the log: it does not answer"; got[1].Error != want {
		t.Errorf("got %q, want %q", got[1].Error, want)
	}
	if got[2].Text != "three\n" || got[2].Error != "" {
		t.Errorf("the attempt on the other node: %+v", got[2])
	}

	evicted := pod("p-0-1", "pump-31", corev1.PodFailed, corev1.ContainerState{})
	evicted.Status.ContainerStatuses, evicted.Status.Reason, evicted.Status.Message = nil, "Evicted", "The node was low on resource: memory."
	c.pods[1] = evicted
	c.faults["p-0-2/main"] = fault.New(fault.NotFound, "pods p-0-2 not found")
	got = logsOf(t, c, `{"run":"pump","task":"fit","worker":0}`)
	if want := "never started: Evicted: The node was low on resource: memory."; got[1].Error != want || !got[1].Terminated {
		t.Errorf("got %+v, want %q", got[1], want)
	}
	if want := "the pod is gone, and its log with it"; got[2].Error != want {
		t.Errorf("deleted in between: got %q, want %q", got[2].Error, want)
	}
}

func TestADeadNodeIsWaitedForOnce(t *testing.T) {
	c := newCluster()
	const workers = 4 * limits.LogsAtOnce
	nodes := []node{{"pump", "pump", "DAG", "Running", nil, ""}, {"pump-2", "pump.fit", "DAG", "Running", nil, ""}}
	c.pods = nil
	for i := range workers {
		id := fmt.Sprintf("w-%d", i)
		nodes = append(nodes, node{id, fmt.Sprintf("pump.fit.fit-%d", i), "Pod", "Running", nil, ""})
		p := pod(fmt.Sprintf("p-%d", i), id, corev1.PodRunning, running)
		p.Spec.NodeName = "dead"
		c.pods = append(c.pods, p)
		c.faults[p.Name+"/main"] = away()
	}
	c.run = pump(nodes...)
	for _, l := range logsOf(t, c, `{"run":"pump","task":"fit"}`) {
		if l.Error != noAnswer("dead") {
			t.Errorf("got %+v", l)
		}
	}
	if n := len(c.asked); n > limits.LogsAtOnce {
		t.Errorf("asked %d times, want at most the %d that were asked at once", n, limits.LogsAtOnce)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	c := newCluster()
	const workers = 40
	nodes := []node{{"pump", "pump", "DAG", "Running", nil, ""}, {"pump-2", "pump.fit", "DAG", "Running", nil, ""}}
	c.pods = nil
	text := strings.Repeat("x", limits.LogBytes)
	for i := range workers {
		id := fmt.Sprintf("w-%d", i)
		nodes = append(nodes, node{id, fmt.Sprintf("pump.fit.fit-%d", i), "Pod", "Running", nil, ""})
		c.pods = append(c.pods, pod(fmt.Sprintf("p-%d", i), id, corev1.PodRunning, running))
		c.texts[fmt.Sprintf("p-%d/main", i)] = text
	}
	c.run = pump(nodes...)
	bytes, left := 0, 0
	got := logsOf(t, c, `{"run":"pump","task":"fit"}`)
	for _, l := range got {
		bytes += len(l.Text)
		if strings.Contains(l.Error, "ask for one worker") {
			left++
		}
	}
	if most := limits.LogsBytes + limits.LogsAtOnce*limits.LogBytes; bytes > most || bytes < limits.LogsBytes {
		t.Errorf("%d bytes, want from %d to %d", bytes, limits.LogsBytes, most)
	}
	if len(got) != workers || left+bytes/limits.LogBytes != workers {
		t.Errorf("%d entries, of which %d say that they were left out", len(got), left)
	}
}

// A pod of a foreign Workflow may hold several programs.
func TestSeveralContainers(t *testing.T) {
	c := newCluster()
	c.pods[0].Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "wait"}, {Name: "b"}}
	c.pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", State: ended}, {Name: "b", State: ended}}
	c.texts["p-fetch/a"], c.texts["p-fetch/b"] = "of a\n", "of b\n"
	got := logsOf(t, c, `{"run":"pump","task":"fetch"}`)
	want := []Log{
		{Task: "fetch", Pod: "p-fetch", Container: "a", Text: "of a\n", Terminated: true},
		{Task: "fetch", Pod: "p-fetch", Container: "b", Text: "of b\n", Terminated: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestASilentlyReplacedPod(t *testing.T) {
	c := newCluster()
	old := pod("p-0-2", "pump-32", corev1.PodFailed, ended)
	old.UID, old.CreationTimestamp.Time = "u-old", c.pods[2].CreationTimestamp.Add(-1)
	c.pods = append([]corev1.Pod{old}, c.pods...)
	got := logsOf(t, c, `{"run":"pump","task":"fit","worker":0}`)
	if len(got) != 4 || !strings.HasPrefix(got[2].Error, "the pod was replaced") || got[3].Text != "three\n" {
		t.Errorf("got %+v, want the replaced pod before its successor", got)
	}
}

func TestText(t *testing.T) {
	c := newCluster()
	for body, want := range map[string]string{
		`{"run":"pump","task":"fetch"}`: "fetched\n",
		`{"run":"pump","task":"fit-0","tail":1}`: "==> fit worker 0 attempt 0 (P) <==\n[runhook: the pod is gone, and its log with it: main: Error (exit code 1)]\n" +
			"==> fit worker 0 attempt 1 (p-0-1) <==\ntwo\n==> fit worker 0 attempt 2 (p-0-2) <==\nthree",
	} {
		response, err := call(t, c, function.Call{Text: true}, body)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := response.Stream(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
		gone := logsOf(t, c, `{"run":"pump","task":"fit-0"}`)[0].Pod
		if diff := cmp.Diff(want, strings.ReplaceAll(text.String(), gone, "P")); diff != "" {
			t.Errorf("%s, want -, got +:\n%s", body, diff)
		}
	}
}

func TestCheckNeedsNoCluster(t *testing.T) {
	check := New(nil, owner.ForeignRead).Check
	if err := check(json.RawMessage(`{"run":"pump","task":"fit"}`)); err != nil {
		t.Error(err)
	}
	if err := check(json.RawMessage(`{"run":"pump","tail":-3}`)); fault.KindOf(err) != fault.Invalid || len(fault.From(err).Problems) != 2 {
		t.Errorf("got %v, want both mistakes", err)
	}
}

func TestPartOf(t *testing.T) {
	for path, want := range map[string]part{
		"fetch":           {path: "fetch", id: "fetch", worker: -1},
		"fit.fit-3":       {path: "fit.fit-3", parent: "fit", id: "fit-3", worker: 3},
		"fit.fit-merge":   {path: "fit.fit-merge", parent: "fit", id: "fit-merge", worker: -1},
		"fit.fit-03":      {path: "fit.fit-03", parent: "fit", id: "fit-03", worker: -1},
		"a.b.c-1":         {path: "a.b.c-1", parent: "a.b", id: "c-1", worker: -1},
		"fan(0:x)":        {path: "fan(0:x)", id: "fan(0:x)", worker: -1},
		"fit.other-fit-3": {path: "fit.other-fit-3", parent: "fit", id: "other-fit-3", worker: -1},
	} {
		if diff := cmp.Diff(want, partOf(path), cmp.AllowUnexported(part{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, want -, got +:\n%s", path, diff)
		}
	}
}
