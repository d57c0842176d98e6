package cluster

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
)

func TestLog(t *testing.T) {
	var asked string
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		query.Del("timeout") // how long a request may take at all
		asked = r.URL.Path + "?" + query.Encode()
		fmt.Fprint(w, strings.Repeat("x", 20)) // a kubelet that gives more than it was asked for
	})
	lines := int64(5)
	text, err := c.Log(t.Context(), "p", "main", &lines, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := "/api/v1/namespaces/runs/pods/p/log?container=main&limitBytes=10&tailLines=5"; asked != want {
		t.Errorf("asked for %s, want %s", asked, want)
	}
	if string(text) != strings.Repeat("x", 10) {
		t.Errorf("got %q", text)
	}
}

func TestLogThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct {
		code            int
		reason, message string
		want            fault.Kind
	}{
		"gone":        {404, "NotFound", `pods "p" not found`, fault.NotFound},
		"not started": {400, "BadRequest", `container "main" in pod "p" is waiting to start: ContainerCreating`, fault.Invalid},
		"node away":   {500, "InternalError", `Get "https://node:10250/containerLogs/runs/p/main": dial tcp: connection refused`, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			c := connected(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, tc.code, tc.reason, tc.message) })
			if _, err := c.Log(t.Context(), "p", "main", nil, 10); fault.KindOf(err) != tc.want {
				t.Errorf("Log: got %v, want %s", err, tc.want)
			}
			if _, err := c.FollowLog(t.Context(), "p", "main", nil); fault.KindOf(err) != tc.want {
				t.Errorf("FollowLog: got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestFollowLogGivesLinesAsTheyCome(t *testing.T) {
	first := make(chan struct{})
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("follow") != "true" {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprintln(w, "one")
		w.(http.Flusher).Flush()
		<-first
		fmt.Fprintln(w, "two")
	})
	stream, err := c.FollowLog(t.Context(), "p", "main", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	line := make([]byte, 4)
	if _, err := io.ReadFull(stream, line); err != nil || string(line) != "one\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	close(first)
	if rest, err := io.ReadAll(stream); err != nil || string(rest) != "two\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}
