package extra

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/extra/extratest"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
)

func body(workers int) string { return fmt.Sprintf(`{"run":"a","task":"fit","workers":%d}`, workers) }

var ci = function.Caller{Name: "ci"}

// call calls half an hour after the run has started.
func call(t *testing.T, on *extratest.Cluster, caller function.Caller, body string) (Response, int, error) {
	t.Helper()
	h := handling{
		lookup.Finder{Cluster: on, Foreign: owner.ForeignAll},
		extra.New(on, extratest.Priorities, func() time.Time { return extratest.Started.Add(30 * time.Minute) }),
	}
	got, err := function.Typed(h.handle)(t.Context(), function.Call{Caller: caller, Body: json.RawMessage(body)})
	if err != nil {
		return Response{}, 0, err
	}
	return got.Body.(Response), got.Status, nil
}

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		workers, lingers int
		code             int
		want             Response
	}{
		"done":           {1, 0, http.StatusOK, Response{Run: "a", Task: "fit", Workers: 1, Changed: true}},
		"nothing to do":  {0, 0, http.StatusOK, Response{Run: "a", Task: "fit"}},
		"not all so far": {1, 1000, http.StatusAccepted, Response{Run: "a", Task: "fit", Workers: 0, Changed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := extratest.New(t)
				for _, workers := range []int{1, 0} { // the name has been used before
					if _, _, err := call(t, on, ci, body(workers)); err != nil {
						t.Fatal(err)
					}
				}
				on.Lingers = tc.lingers
				got, code, err := call(t, on, ci, body(tc.workers))
				if err != nil || code != tc.code {
					t.Fatalf("%d %v", code, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	err := Request{Run: "A/b"}.check()
	if problems := fault.From(err).Problems; len(problems) != 3 || problems[0].Path != "run" {
		t.Errorf("%v", problems)
	}
}

func TestRefused(t *testing.T) {
	phase := func(phase wfv1.NodePhase) func(*extratest.Cluster) {
		return func(on *extratest.Cluster) {
			for _, id := range []string{"a.fit", "a.fit.fit-0", "a.fit.fit-1"} {
				node := on.All["a"].Status.Nodes[id]
				node.Phase = phase
				on.All["a"].Status.Nodes[id] = node
			}
		}
	}
	all := function.Caller{Name: "ops", AllRuns: true}
	for name, tc := range map[string]struct {
		body    string
		caller  function.Caller
		prepare func(*extratest.Cluster)
		want    fault.Kind
	}{
		"above split.extra":  {body(3), ci, nil, fault.Invalid},
		"below none":         {body(-1), ci, nil, fault.Invalid},
		"no number":          {`{"run":"a","task":"fit"}`, ci, nil, fault.Invalid},
		"no task":            {`{"run":"a","workers":1}`, ci, nil, fault.Invalid},
		"no run":             {`{"task":"fit","workers":1}`, ci, nil, fault.Invalid},
		"an unknown key":     {`{"run":"a","task":"fit","workers":1,"force":true}`, ci, nil, fault.Invalid},
		"not split":          {`{"run":"a","task":"fetch","workers":1}`, ci, nil, fault.Conflict},
		"no such task":       {`{"run":"a","task":"nothing","workers":0}`, ci, nil, fault.Conflict},
		"the task has ended": {body(1), ci, phase(wfv1.NodeSucceeded), fault.Conflict},
		"the task waits":     {body(1), ci, phase(wfv1.NodePending), fault.Conflict},
		"being cancelled":    {body(1), ci, func(on *extratest.Cluster) { on.All["a"].Spec.Shutdown = "Terminate" }, fault.Conflict},
		"past its deadline":  {body(1), ci, func(on *extratest.Cluster) { on.All["a"].Status.StartedAt.Time = extratest.Started.Add(-2 * time.Hour) }, fault.Conflict},
		"a quota": {body(1), ci, func(on *extratest.Cluster) {
			on.Create = func(*wfv1.Workflow) error { return fault.New(fault.Conflict, "quota") }
		}, fault.Conflict},
		"the name is another": {body(1), ci, func(on *extratest.Cluster) {
			on.All["a-extra-fit-0"] = &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "a-extra-fit-0"}}
		}, fault.Conflict},
		"the cluster is away": {body(1), ci, func(on *extratest.Cluster) {
			on.Create = func(*wfv1.Workflow) error { return fault.New(fault.Unavailable, "away") }
		}, fault.Unavailable},
		"another's":     {body(1), function.Caller{Name: "cd"}, nil, fault.NotFound},
		"a foreign run": {body(1), all, func(on *extratest.Cluster) { on.All["a"].Labels, on.All["a"].Annotations = nil, nil }, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			on := extratest.New(t)
			if tc.prepare != nil {
				tc.prepare(on)
			}
			if _, _, err := call(t, on, tc.caller, tc.body); fault.KindOf(err) != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			if len(on.Done) > 0 {
				t.Errorf("did %v", on.Done)
			}
		})
	}
}

func TestFunction(t *testing.T) {
	f := New(extratest.New(t), Settings{})
	if f.Name != "extra" || f.Reads {
		t.Errorf("%+v", f)
	}
	if err := f.Check(json.RawMessage(body(-1))); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the check says %v", err)
	}
	if err := f.Check(json.RawMessage(body(1))); err != nil {
		t.Errorf("the check says %v", err)
	}
}
