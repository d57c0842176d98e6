//go:build cluster

package clustertest

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/cli"
	"github.com/runhook/runhook/pkg/status"
)

// watches gives how many watches of Workflows the API server serves.
func (s *site) watches() int {
	s.Helper()
	text, err := s.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(s.Context())
	must(s, err)
	found := regexp.MustCompile(`(?m)^apiserver_longrunning_requests\{[^}]*resource="workflows"[^}]*verb="WATCH"[^}]*\} (\d+)$`).FindAllSubmatch(text, -1)
	all := 0
	for _, line := range found {
		n, err := strconv.Atoi(string(line[1]))
		must(s, err)
		all += n
	}
	if all == 0 {
		s.Fatal("the API server tells of no watch of Workflows, not even Argo's")
	}
	return all
}

func TestWaitersShareAWatchAndSeeTheChange(t *testing.T) {
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{task("hold", hold, cpu("50m"))}})
	before := s.waitTasks(run, status.Running, "hold")
	// Until nothing more happens to it.
	for {
		var now status.Status
		s.call("demo-token", "status", map[string]any{"run": run, "wait": "10s", "since": before.ResourceVersion}).decode(t, &now)
		if now.ResourceVersion == before.ResourceVersion {
			break
		}
		before = now
	}
	watches := s.watches()

	const waiters = 100
	answers := make([]answer, waiters)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = s.call("demo-token", "status", map[string]any{"run": run, "wait": "50s", "since": before.ResourceVersion})
		})
	}
	s.eventually("the run is watched", func() error {
		if s.watches() <= watches {
			return errors.New("not yet")
		}
		return nil
	})
	// One for each replica, and what other tests watch meanwhile.
	if more := s.watches() - watches; more > waiters/10 {
		t.Errorf("%d waiters cost %d watches", waiters, more)
	}
	s.cancel(run)
	cancelled := time.Now()
	all.Wait()
	if took := time.Since(cancelled); took > 40*time.Second {
		t.Errorf("the waiters were answered after %s: by their time, not by the change", took)
	}
	for _, got := range answers {
		var now status.Status
		if got.decode(t, &now); got.code != http.StatusOK || now.ResourceVersion == before.ResourceVersion {
			t.Fatalf("answered %d %s", got.code, got.body)
		}
	}
}

// runhook runs a command line, and gives its exit code and output.
func (s *site) runhook(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(s.Context(), args, cli.System{Version: "test", Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestCommandLineAtAServerAndStraightAtTheCluster(t *testing.T) {
	s := newSite(t)
	for name, where := range map[string][]string{
		"server":  {"--server", s.url, "--token-file", root + "/bin/deploy/demo-token"},
		"cluster": {"--kubeconfig", os.Getenv("KUBECONFIG"), "--namespace", namespace},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			at := func(args ...string) []string { return append(args, where...) }
			done := s.submit(map[string]any{"id": unique(t) + "-done-" + name, "queue": "research", "tasks": []any{task("say", "echo hello")}})
			code, out, errs := s.runhook(at("status", done, "--watch", "--wait", "-o", "table")...)
			if code != 0 || !strings.Contains(out, "Succeeded") {
				t.Errorf("exit code %d, %s%s", code, out, errs)
			}
			if code, out, errs := s.runhook(at("logs", done, "say")...); code != 0 || !strings.HasPrefix(out, "hello\n") {
				t.Errorf("logs: exit code %d, %q %s", code, out, errs)
			}
			held := s.submit(map[string]any{"id": unique(t) + "-held-" + name, "queue": "research", "tasks": []any{task("hold", hold, cpu("50m"))}})
			if code, _, errs := s.runhook(at("status", held, "--wait", "--timeout", "1s")...); code != 4 {
				t.Errorf("a run that goes on: exit code %d, %s", code, errs)
			}
			s.waitTasks(held, status.Running, "hold")
			if code, out, errs := s.runhook(at("cancel", held, "-o", "table")...); code != 0 || !strings.Contains(out, "yes") {
				t.Errorf("cancel: exit code %d, %s%s", code, out, errs)
			}
			if code, out, errs := s.runhook(at("status", held, "--wait")...); code != 3 || !strings.Contains(out, "Stopped") {
				t.Errorf("a run that was cancelled: exit code %d, %s%s", code, out, errs)
			}
		})
	}
}
