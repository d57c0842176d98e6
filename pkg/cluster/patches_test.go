package cluster

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/fault"
)

// A foreign Workflow may hold a quantity that takes for ever to decode: who
// changes one asks for its metadata, and decodes nothing.
func TestWhoChangesAWorkflowDoesNotReadIt(t *testing.T) {
	var body string
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(read)
		if r.Method != http.MethodPatch || r.URL.Path != "/apis/argoproj.io/v1alpha1/namespaces/runs/workflows/a" ||
			r.Header.Get("Content-Type") != "application/merge-patch+json" || r.Header.Get("Accept") != objectMetadata {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"a"},"spec":{"templates":[{"name":"x","container":{"resources":{"limits":{"cpu":"99999999999999999999e999999999"}}}}]}}`)
	})
	for want, change := range map[string]func() error{
		`{"spec":{"shutdown":"Terminate"}}`:                            func() error { return c.ShutdownWorkflow(t.Context(), "a", wfv1.ShutdownStrategyTerminate) },
		`{"metadata":{"annotations":{"k":"v"},"resourceVersion":"7"}}`: func() error { return c.Annotate(t.Context(), "a", "7", "k", "v") },
		`{"metadata":{"annotations":{"k":"v"},"uid":"u"}}`:             func() error { return c.AnnotateWorkflow(t.Context(), "a", "u", "k", "v") },
	} {
		if err := change(); err != nil || body != want {
			t.Errorf("%v, sent %s, want %s", err, body, want)
		}
	}
}

func TestAnotherWorkflowOfTheNameIsNotAnnotated(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusConflict, "Conflict", "Precondition failed: UID in precondition: u, UID in object meta: x")
	})
	if err := c.AnnotateWorkflow(t.Context(), "a", "u", "k", "v"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
}
