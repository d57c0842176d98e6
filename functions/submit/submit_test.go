package submit

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// cluster holds Workflows and nodes by their names.
type cluster struct {
	workflows map[string]*wfv1.Workflow
	nodes     map[string]*corev1.Node
	created   int
	stopped   []string
	refuse    error // what every create comes to, when set
}

func (c *cluster) CreateWorkflow(_ context.Context, w *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	if c.workflows[w.Name] != nil {
		return nil, fault.New(fault.Conflict, "workflow %s exists already", w.Name)
	}
	if !dryRun {
		c.created++
		w.CreationTimestamp = metav1.Unix(int64(c.created), 0)
		c.workflows[w.Name] = w
	}
	return w, nil
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	w, ok := c.workflows[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "run %s does not exist", name)
	}
	return json.Marshal(w)
}

func (c *cluster) Node(_ context.Context, name string) (*corev1.Node, error) {
	node, ok := c.nodes[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "node %s does not exist", name)
	}
	return node, nil
}

// EachWorkflow knows the one selector that is asked for.
func (c *cluster) EachWorkflow(_ context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	for _, name := range slices.Sorted(maps.Keys(c.workflows)) {
		w := c.workflows[name]
		if selector == "runhook/ref="+w.Labels[argo.RefLabel]+",!runhook/extra-of" {
			visit(&metav1.PartialObjectMetadata{ObjectMeta: w.ObjectMeta})
		}
	}
	return nil
}

func (c *cluster) stop() function.Function {
	return function.Function{Handle: function.Typed(func(_ context.Context, _ function.Call, request struct {
		Run string `json:"run"`
	}) (function.Response, error) {
		c.stopped = append(c.stopped, request.Run)
		return function.Response{}, nil
	})}
}

// Digest is the registry's: every image with the tag `there` exists.
func (c *cluster) Digest(_ context.Context, ref image.Reference) (string, bool, error) {
	return "", strings.HasSuffix(ref.String(), ":there"), nil
}

func newCluster() *cluster {
	return &cluster{
		workflows: map[string]*wfv1.Workflow{},
		nodes: map[string]*corev1.Node{
			"n1": {ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"simrun/worker": "true"}}},
			"cp": {ObjectMeta: metav1.ObjectMeta{Name: "cp"}},
		},
	}
}

var settings = Settings{
	Policy: run.Policy{
		Queue: "research", Priorities: []string{"normal", "high"}, VolumeKinds: []string{"persistentVolumeClaim"},
		Claims: []string{"data", "other"}, Secrets: []string{"wandb", "other"},
		Registry: image.Registry{Host: "reg:5000"}, GitHosts: image.GitHosts{TLS: []string{"git.lab"}},
	},
	Options:   argo.Options{Namespace: "runs", Workers: "simrun/worker=true", Reservation: "simrun/reserved", ServiceAccount: "runner", Retries: 30, Build: image.Settings{Registry: image.Registry{Host: "reg:5000"}}},
	StatusURL: func(run string) string { return "https://runhook.example/" + run },
}

var ci = function.Caller{Name: "ci", Queues: []string{"research"}, Priorities: []string{"normal"}, Secrets: []string{"wandb"}, Claims: []string{"data"}}

const simple = `{"id": "a", "tasks": [{"id": "t", "image": "i", "command": ["true"]}]}`

func call(t *testing.T, on *cluster, c function.Call) (Response, int, error) {
	t.Helper()
	got, err := New(on, on, on.stop(), settings).Handle(context.Background(), c)
	if err != nil {
		return Response{}, 0, err
	}
	return got.Body.(Response), got.Status, nil
}

func TestSameRequestTwiceIsOneRun(t *testing.T) {
	on := newCluster()
	first, status, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(simple)})
	if err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	if diff := cmp.Diff(Response{Run: "a", Created: true, Phase: "Pending", Status: "https://runhook.example/a"}, first); diff != "" {
		t.Error(diff)
	}
	// The same run, written otherwise.
	again, status, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(`{"tasks": [{"command": ["true"], "id": "t", "image": "i"}], "id": "a"}`)})
	if err != nil || status != http.StatusOK || again.Created || again.Run != "a" || on.created != 1 {
		t.Errorf("again: %d %+v %v, %d created", status, again, err, on.created)
	}
}

func TestNameWithAnotherKeyIsAConflict(t *testing.T) {
	other := `{"id": "a", "tasks": [{"id": "t", "image": "i", "command": ["false"]}]}`
	someone := ci
	someone.Name = "someone"
	for name, second := range map[string]function.Call{
		"another run":              {Caller: ci, Body: json.RawMessage(other)},
		"another caller":           {Caller: someone, Body: json.RawMessage(simple)},
		"another key":              {Caller: ci, Body: json.RawMessage(simple), Key: "k2"},
		"the same key, not theirs": {Caller: someone, Body: json.RawMessage(simple), Key: "k1"},
	} {
		on := newCluster()
		if _, _, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(simple), Key: "k1"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := call(t, on, second); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	on := newCluster()
	on.workflows["a"] = &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "a"}} // made by somebody else, no key
	if _, _, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(simple)}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a foreign Workflow: %v", err)
	}
}

func TestKeyNamesARunWithoutID(t *testing.T) {
	on := newCluster()
	body := json.RawMessage(`{"tasks": [{"id": "t", "image": "i", "command": ["true"]}]}`)
	first, _, err := call(t, on, function.Call{Caller: ci, Body: body, Key: "order-17"})
	if err != nil {
		t.Fatal(err)
	}
	// A key guards the name: what comes with it is the same run.
	again, _, err := call(t, on, function.Call{Caller: ci, Body: body, Key: "order-17"})
	if err != nil || again.Run != first.Run || again.Created {
		t.Errorf("%+v, then %+v (%v)", first, again, err)
	}
	other, _, err := call(t, on, function.Call{Caller: ci, Body: body, Key: "order-18"})
	if err != nil || other.Run == first.Run {
		t.Errorf("another key made %+v (%v)", other, err)
	}
}

func TestOriginNamesAndMarksTheRun(t *testing.T) {
	on := newCluster()
	origin := &function.Origin{Route: "acme/train", Repo: "acme/pump", SHA: "abc", Ref: "refs/heads/main", Name: "acme-pump-abc-0123456789", RefLabel: "f00"}
	hook := function.Caller{Name: "hook:acme/train", Everything: true}
	got, _, err := call(t, on, function.Call{Caller: hook, Body: json.RawMessage(`{"tasks": [{"id": "t", "image": "i"}]}`), Key: "k", Origin: origin})
	if err != nil || got.Run != origin.Name {
		t.Fatalf("%+v %v", got, err)
	}
	w := on.workflows[origin.Name]
	var source function.Origin
	if err := json.Unmarshal([]byte(w.Annotations[argo.SourceAnnotation]), &source); err != nil || source.SHA != "abc" {
		t.Errorf("source %s: %v", w.Annotations[argo.SourceAnnotation], err)
	}
	if w.Labels[argo.RefLabel] != "f00" || w.Annotations[owner.Annotation] != hook.Name {
		t.Errorf("labels %v, annotations %v", w.Labels, w.Annotations)
	}
}

func TestBuildIsLeftOutWhenTheRegistryHasTheImage(t *testing.T) {
	body := func(tag string) json.RawMessage {
		return json.RawMessage(`{"id": "a", "build": {"ref": "reg:5000/acme/pump:` + tag + `", "git": {"url": "https://git.lab/acme/pump.git", "sha": "` + strings.Repeat("1", 40) + `"}}, "tasks": [{"id": "t"}]}`)
	}
	for tag, builds := range map[string]bool{"there": false, "missing": true} {
		on := newCluster()
		if _, _, err := call(t, on, function.Call{Caller: function.Caller{Everything: true}, Body: body(tag)}); err != nil {
			t.Fatal(err)
		}
		if got := on.workflows["a"].GetTemplateByName("task-build") != nil; got != builds {
			t.Errorf("%s: has a build: %t", tag, got)
		}
	}
	for name, tc := range map[string]struct {
		change func(*function.Caller)
		path   string
	}{
		"no right to build": {func(c *function.Caller) { c.Functions = nil }, "build"},
		"other repository":  {func(c *function.Caller) { c.Repositories = []string{"reg:5000/acme/other"} }, "build.ref"},
	} {
		caller := ci
		caller.Functions, caller.Repositories = []string{"build-image"}, []string{"reg:5000/acme"}
		tc.change(&caller)
		_, _, err := call(t, newCluster(), function.Call{Caller: caller, Body: body("missing")})
		if f := fault.From(err); f == nil || f.Kind != fault.Forbidden || f.Problems[0].Path != tc.path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDryRunCreatesNothing(t *testing.T) {
	on := newCluster()
	got, status, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(simple), DryRun: true})
	if err != nil || status != http.StatusOK || got.Created || got.Workflow == nil || on.created != 0 {
		t.Errorf("%d %+v %v", status, got, err)
	}
}

func TestRefusals(t *testing.T) {
	task := func(more string) string { return `{"id": "a", "tasks": [{"id": "t", "image": "i"` + more + `}]}` }
	for name, tc := range map[string]struct {
		body string
		kind fault.Kind
		path string
	}{
		"no JSON":              {`{`, fault.Malformed, ""},
		"unknown key":          {task(`, "imgae": "x"`), fault.Invalid, "tasks[0].imgae"},
		"no tasks":             {`{"id": "a", "tasks": []}`, fault.Invalid, "tasks"},
		"pin to control plane": {task(`, "nodes": ["cp"]`), fault.Invalid, "tasks[0].nodes[0]"},
		"pin to nothing":       {task(`, "nodes": ["gone"]`), fault.Invalid, "tasks[0].nodes[0]"},
		"other queue":          {`{"id": "a", "queue": "b", "tasks": [{"id": "t", "image": "i"}]}`, fault.Forbidden, "queue"},
		"other priority":       {`{"id": "a", "priority": "high", "tasks": [{"id": "t", "image": "i"}]}`, fault.Forbidden, "priority"},
		"other Secret":         {task(`, "env": {"T": {"secret": "other", "key": "k"}}`), fault.Forbidden, "tasks[0].env.T.secret"},
		"Secret of nobody":     {task(`, "env": {"T": {"secret": "x", "key": "k"}}`), fault.Invalid, "tasks[0].env.T.secret"},
		"other claim":          {`{"id": "a", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "other"}}], "tasks": [{"id": "t", "image": "i"}]}`, fault.Forbidden, "volumes[0].persistentVolumeClaim.claimName"},
		"reserved":             {`{"id": "a", "reserved": true, "tasks": [{"id": "t", "image": "i"}]}`, fault.Forbidden, "reserved"},
	} {
		on := newCluster()
		caller := ci
		caller.Scheduling = strings.HasPrefix(name, "pin")
		_, _, err := call(t, on, function.Call{Caller: caller, Body: json.RawMessage(tc.body)})
		f := fault.From(err)
		if f == nil || f.Kind != tc.kind {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tc.path != "" && (len(f.Problems) != 1 || f.Problems[0].Path != tc.path) {
			t.Errorf("%s: problems %v, want %s", name, f.Problems, tc.path)
		}
		if on.created != 0 {
			t.Errorf("%s: a Workflow was created", name)
		}
	}
	pinned := ci
	if _, _, err := call(t, newCluster(), function.Call{Caller: pinned, Body: json.RawMessage(task(`, "nodes": ["n1"]`))}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a pin without the right: %v", err)
	}
}

func TestConflictWithoutAWorkflowIsPassedOn(t *testing.T) {
	on := newCluster()
	on.refuse = fault.New(fault.Conflict, "the cluster forbids workflow a: exceeded quota")
	if _, _, err := call(t, on, function.Call{Caller: ci, Body: json.RawMessage(simple)}); err == nil || !strings.Contains(err.Error(), "quota") {
		t.Errorf("got %v", err)
	}
}

func TestSupersede(t *testing.T) {
	hook := function.Caller{Name: "hook:acme/train", Everything: true}
	push := func(sha, before, committed string) function.Call {
		return function.Call{
			Caller: hook, Key: sha, Body: json.RawMessage(`{"tasks": [{"id": "t", "image": "i"}]}`),
			Origin: &function.Origin{Route: "acme/train", SHA: sha, Before: before, Committed: committed, Name: "acme-" + sha, RefLabel: "f00", Supersedes: true},
		}
	}
	on := newCluster()
	submit := func(c function.Call) any {
		t.Helper()
		got, err := New(on, on, on.stop(), settings).Handle(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return got.Body
	}
	first := push("a", "0", "2026-01-01T00:00:00Z")
	second := push("b", "a", "2026-01-01T00:01:00Z")
	submit(first)
	if len(on.stopped) != 0 {
		t.Errorf("the first stopped %v", on.stopped)
	}
	submit(second)
	if diff := cmp.Diff([]string{"acme-a"}, on.stopped); diff != "" {
		t.Error(diff)
	}
	// A redelivery of the old push stops nothing, and starts nothing.
	on.stopped = nil
	delete(on.workflows, "acme-a")
	if diff := cmp.Diff(Ignored{"superseded"}, submit(first)); diff != "" || len(on.stopped) != 0 || on.workflows["acme-a"] != nil {
		t.Error("a late push acted: ", diff, on.stopped)
	}
	// Ended runs are never touched; nor are runs of other refs.
	on.workflows["acme-b"].Labels[argo.CompletedLabel] = "true"
	other := push("z", "y", "2026-01-01T00:00:30Z")
	other.Origin.RefLabel = "other"
	submit(other)
	submit(push("c", "b", time.Date(2026, 1, 1, 0, 2, 0, 0, time.UTC).Format(time.RFC3339)))
	if len(on.stopped) != 0 {
		t.Errorf("stopped %v", on.stopped)
	}
}
