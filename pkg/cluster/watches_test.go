package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
)

// watched is an API server whose watches send what a test wants.
type watched struct {
	queries   chan string
	workflows chan string
	pods      chan string
}

func (w *watched) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	events := w.workflows
	if strings.HasSuffix(r.URL.Path, "/pods") {
		events = w.pods
	}
	w.queries <- r.URL.Path + "?" + r.URL.Query().Get("labelSelector") + r.URL.Query().Get("fieldSelector")
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	out.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case event, more := <-events:
			if !more {
				return
			}
			_, _ = out.Write([]byte(event + "\n"))
			out.(http.Flusher).Flush()
		}
	}
}

const (
	changed = `{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"2"}}}`
	expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`
)

func TestWatchRun(t *testing.T) {
	for name, breaks := range map[string]func(*watched){
		"the Workflows' watch ends":    func(w *watched) { close(w.workflows) },
		"the pods' watch ends":         func(w *watched) { close(w.pods) },
		"the Workflows' watch expires": func(w *watched) { w.workflows <- expired },
	} {
		t.Run(name, func(t *testing.T) {
			server := &watched{queries: make(chan string, 2), workflows: make(chan string), pods: make(chan string)}
			c := connected(t, server.ServeHTTP)
			signals, err := c.WatchRun(t.Context(), "a", map[string]string{"run": "a"}, map[string]string{"pod-of": "a"})
			if err != nil {
				t.Fatal(err)
			}
			if got := <-server.queries; got != "/apis/argoproj.io/v1alpha1/namespaces/runs/workflows?run=a" {
				t.Errorf("watched %s", got)
			}
			if got := <-server.queries; got != "/api/v1/namespaces/runs/pods?pod-of=a" {
				t.Errorf("watched %s", got)
			}
			server.workflows <- changed
			<-signals
			server.pods <- changed
			<-signals
			breaks(server)
			if _, stands := <-signals; stands {
				t.Error("a signal instead of the end")
			}
		})
	}
}

func TestWatchOfAForeignRunIsByName(t *testing.T) {
	server := &watched{queries: make(chan string, 2)}
	c := connected(t, server.ServeHTTP)
	if _, err := c.WatchRun(t.Context(), "a", nil, map[string]string{"pod-of": "a"}); err != nil {
		t.Fatal(err)
	}
	if got := <-server.queries; got != "/apis/argoproj.io/v1alpha1/namespaces/runs/workflows?metadata.name=a" {
		t.Errorf("watched %s", got)
	}
}

func TestWatchRunIsRefused(t *testing.T) {
	for _, refused := range []string{"/workflows", "/pods"} {
		c := connected(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, refused) {
				refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "etcd")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		if _, err := c.WatchRun(t.Context(), "a", nil, nil); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: got %v", refused, err)
		}
	}
}
