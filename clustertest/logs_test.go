//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/functions/logs"
	"github.com/runhook/runhook/functions/placements"
)

func trimmed(body []byte) []byte { return bytes.TrimSpace(body) }

// tries is a run whose worker 0 fails twice before it succeeds.
func tries(id string) map[string]any {
	return map[string]any{"id": id, "queue": "research", "tasks": []any{
		task("fit", `echo "worker $RUNHOOK_WORKER attempt $RUNHOOK_ATTEMPT"; echo last; test $RUNHOOK_WORKER != 0 || test $RUNHOOK_ATTEMPT = 2`, map[string]any{
			"retry": map[string]any{"failures": 2, "backoff": "1s"}, "split": map[string]any{"workers": 2},
		}),
	}}
}

func (s *site) logs(request map[string]any) []logs.Log {
	s.Helper()
	got := s.call("planner-token", "logs", request)
	if got.code != http.StatusOK {
		s.Fatalf("logs answered %d: %s", got.code, got.body)
	}
	var response logs.Response
	got.decode(s.T, &response)
	return response.Logs
}

// text asks for the logs as a person with curl does.
func (s *site) text(query string) string {
	s.Helper()
	request, err := http.NewRequest(http.MethodGet, s.url+"/functions/logs?"+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.secret("planner-token"))
	request.Header.Set("Accept", "text/plain")
	got := s.do(request)
	if got.code != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		s.Fatalf("got %d %s: %s", got.code, got.header.Get("Content-Type"), got.body)
	}
	return string(got.body)
}

func TestLogsOfThreeAttempts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.submit(tries(unique(t)))
	// Following begins before the first attempt and ends with the last.
	followed := programs(s.text("run=" + run + "&task=fit&worker=0&follow=true"))
	from := 0
	for attempt := range 3 {
		line := fmt.Sprintf("worker 0 attempt %d\nlast\n", attempt)
		at := strings.Index(followed[from:], line)
		if at < 0 {
			t.Fatalf("%q is missing or out of order in:\n%s", line, followed)
		}
		from += at
	}
	s.waitPhase(run, "Succeeded")

	got := s.logs(map[string]any{"run": run, "task": "fit", "worker": 0})
	if len(got) != 3 {
		t.Fatalf("%d logs, want those of three attempts: %+v", len(got), got)
	}
	for attempt, l := range got {
		want := fmt.Sprintf("worker 0 attempt %d\nlast\n", attempt)
		if l.Attempt != attempt || l.Task != "fit" || l.Worker == nil || *l.Worker != 0 || !l.Terminated || l.Truncated || l.Error != "" || programs(l.Text) != want {
			t.Errorf("attempt %d: %+v, want %q", attempt, l, want)
		}
	}
	for _, l := range s.logs(map[string]any{"run": run, "task": "fit", "tail": 1}) {
		if strings.Count(l.Text, "\n") != 1 {
			t.Errorf("the last line of %s is %q", l.Pod, l.Text)
		}
	}

	// A pod that is gone says so, and the others are still given.
	if err := s.kube.CoreV1().Pods(namespace).Delete(context.Background(), got[0].Pod, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the deleted pod is told to be gone", func() error {
		now := s.logs(map[string]any{"run": run, "task": "fit", "worker": 0})
		if !strings.HasPrefix(now[0].Error, "the pod is gone") {
			return fmt.Errorf("%+v", now[0])
		}
		if now[1].Text != got[1].Text || now[2].Text != got[2].Text {
			t.Errorf("the others are no longer given: %+v", now)
		}
		return nil
	})
	if text := programs(s.text("run=" + run + "&task=fit-1")); text != "worker 1 attempt 0\nlast\n" {
		t.Errorf("as text: %q", text)
	}
}

func TestCallersSeeTheirOwnRunsOnly(t *testing.T) {
	s := newSite(t)
	theirs := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{task("hold", "sleep 600")}})
	own := unique(t)
	s.submitAs("guest-token", map[string]any{"id": own, "queue": "research", "tasks": []any{task("hold", "sleep 600")}})
	s.runningPod(theirs, "hold")
	s.runningPod(own, "hold")
	for function, request := range map[string]func(string) map[string]any{
		"status": func(run string) map[string]any { return map[string]any{"run": run} },
		"logs":   func(run string) map[string]any { return map[string]any{"run": run, "task": "hold"} },
	} {
		if got := s.call("guest-token", function, request(own)); got.code != http.StatusOK {
			t.Errorf("%s of an own run: %d %s", function, got.code, got.body)
		}
		if got := s.call("guest-token", function, request(theirs)); got.code != http.StatusNotFound {
			t.Errorf("%s of another's run: %d %s", function, got.code, got.body)
		}
	}
	var placed placements.Response
	s.call("guest-token", "placements", map[string]any{}).decode(t, &placed)
	if len(placed.Placements) != 1 || placed.Placements[0].Run != own {
		t.Errorf("placements of own runs: %+v", placed.Placements)
	}
}
