package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

// api is an API server with one node, one pod and one run, which can be broken.
type api struct {
	lock   sync.Mutex
	breaks func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	writes []string
}

// written gives what was written since it was last asked.
func (a *api) written() []string {
	a.lock.Lock()
	defer a.lock.Unlock()
	written := a.writes
	a.writes = nil
	return written
}

func (a *api) breakWith(breaks func(http.ResponseWriter, *http.Request) bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.breaks = breaks
}

const (
	apiNode = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","resourceVersion":"7","labels":{"simrun/worker":"true"}},"status":{"allocatable":{"cpu":"4","memory":"8Gi"}}}`
	apiPod  = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p1","namespace":"runs","uid":"u1","labels":{"runhook/run":"pump","runhook/task":"fit"},"annotations":{"workflows.argoproj.io/node-id":"pump-1"}},"spec":{"nodeName":"n1","containers":[{"name":"main"}]},"status":{"phase":"Running","containerStatuses":[{"name":"main","state":{"running":{}}}]}}`
	apiRun  = `{"kind":"Workflow","apiVersion":"argoproj.io/v1alpha1","metadata":{"name":"pump","namespace":"runs","labels":{"runhook/run":"a"},"annotations":{"runhook/caller":"ci"}},"spec":{},"status":{"phase":"Running","nodes":{"pump-1":{"id":"pump-1","name":"pump.fit","displayName":"fit","type":"Pod","phase":"Running"}}}}`
)

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.lock.Lock()
	breaks := a.breaks
	a.lock.Unlock()
	if breaks != nil && breaks(w, r) {
		return
	}
	list := func(kind, item string) {
		token := ""
		if r.URL.Query().Get("continue") == "" {
			token = "more"
		}
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":"v1","metadata":{"continue":%q},"items":[%s]}`, kind, token, item)
	}
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case r.Method == http.MethodPost:
		_, _ = w.Write(a.note(r)) // what was created
	case r.Method == http.MethodPatch:
		a.note(r)
		if strings.Contains(path, "/workflows/") {
			fmt.Fprint(w, apiRun)
		} else {
			fmt.Fprint(w, apiNode)
		}
	case strings.HasSuffix(path, "/nodes"):
		list("NodeList", apiNode)
	case strings.HasSuffix(path, "/nodes/n1"):
		fmt.Fprint(w, apiNode)
	case strings.HasSuffix(path, "/pods"):
		list("PodList", apiPod)
	case strings.HasSuffix(path, "/log"):
		fmt.Fprint(w, "hello\n")
	case strings.HasSuffix(path, "/workflows"):
		list("WorkflowList", "")
	case strings.HasSuffix(path, "/workflows/pump"):
		fmt.Fprint(w, apiRun)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

// note remembers a body that was written.
func (a *api) note(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	a.lock.Lock()
	defer a.lock.Unlock()
	a.writes = append(a.writes, string(body))
	return body
}

func refuse(code int, reason string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
		return true
	}
}

// hangUp ends the connection without an answer, as a server does that is stopped.
func hangUp(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// slow answers when the caller has long gone.
func slow(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

// inTheMiddle breaks the second page of a list, and the writing of a node.
func inTheMiddle(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("continue") != "" || r.Method == http.MethodPatch || strings.HasSuffix(r.URL.Path, "/pods") && strings.Contains(r.URL.Path, "namespaces") {
		return refuse(http.StatusInternalServerError, "InternalError")(w, r)
	}
	return false
}

func TestABrokenClusterIsToldAndPasses(t *testing.T) {
	server := &api{}
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}`, listener.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	on, err := cluster.Connect(kubeconfig, "runs", "runhook/test")
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Namespace = "runs"
	table, err := New(&c, on)
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(name, body string, limit time.Duration) (function.Response, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		caller := function.Caller{Name: "ci", AllRuns: true, Scheduling: true, Queues: []string{""}}
		return table.Invoke(ctx, name, function.Call{Caller: caller, Body: json.RawMessage(body)})
	}
	for name, body := range map[string]string{
		"nodes": `{}`, "placements": `{}`, "reserve": `{"node":"n1","run":"pump"}`, "unreserve": `{"node":"n1","run":"pump"}`,
		"submit": `{"id":"new","tasks":[{"id":"fit","image":"i","nodes":["n1"]}]}`,
		"logs":   `{"run":"pump","task":"fit"}`, "status": `{"run":"pump"}`, "cancel": `{"run":"pump"}`, "stop": `{"run":"pump"}`,
	} {
		writes := name == "submit" || name == "reserve" || name == "cancel" || name == "stop"
		for how, breaks := range map[string]func(http.ResponseWriter, *http.Request) bool{
			"stopped": hangUp, "slow": slow, "busy": refuse(http.StatusTooManyRequests, "TooManyRequests"),
			"failing": refuse(http.StatusInternalServerError, "InternalError"), "failing in the middle": inTheMiddle,
		} {
			if how == "failing in the middle" && (name == "unreserve" || name == "submit") {
				continue // neither lists anything, and the node is not reserved
			}
			t.Run(name+" "+how, func(t *testing.T) {
				server.breakWith(breaks)
				// Long enough for every answer but those that never come.
				_, err := invoke(name, body, 300*time.Millisecond)
				if fault.KindOf(err) != fault.Unavailable || fault.From(err).RetryAfter <= 0 {
					t.Errorf("got %v, want a 503 that says when to try again", err)
				}
				if written := server.written(); len(written) > 0 {
					t.Errorf("written although it was refused: %v", written)
				}
				server.breakWith(nil)
				if _, err := invoke(name, body, time.Minute); err != nil {
					t.Errorf("the same call later: %v", err)
				}
				if written := server.written(); len(written) > 0 != writes {
					t.Errorf("written: %v", written)
				}
			})
		}
	}
}
