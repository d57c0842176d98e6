//go:build cluster

package clustertest

import (
	"net/http"
	"testing"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

func TestNewerPushSupersedesOlderRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	deliver := func(p hooktest.GitHubPush) answer {
		request, err := hooktest.GitHubRequest(s.url+"/hooks/latest", p.Body(), []byte(s.secret("github-secret")))
		must(s, err)
		return s.do(request)
	}
	start := func(p hooktest.GitHubPush) string {
		got := deliver(p)
		if got.code != http.StatusAccepted {
			t.Fatalf("the hook answered %d: %s", got.code, got.body)
		}
		run := s.decisionOf(got).Run
		s.deleteAtEnd(run)
		return run
	}
	first := hooktest.NewGitHubPush("first")
	first.Branch = "latest/" + hooktest.RandomHex(4)
	second := hooktest.NewGitHubPush("second")
	second.Branch, second.Before = first.Branch, first.SHA
	other := hooktest.NewGitHubPush("of another branch")
	other.Branch = first.Branch + "-other"

	old, elsewhere := start(first), start(other)
	s.waitPhase(old, "Running")
	newer := start(second)
	s.waitPhase(old, "Failed") // as Argo calls what was stopped
	if got := s.status(old).Phase; got != "Stopped" {
		t.Errorf("the superseded run reads %s", got)
	}
	for _, run := range []string{newer, elsewhere} {
		if got := s.status(run).Phase; got == "Stopped" || got == "Failed" {
			t.Errorf("run %s was ended: %s", run, got)
		}
	}
	// The old push, delivered again, neither runs nor stops anything.
	again := deliver(first)
	if d := s.decisionOf(again); again.code != http.StatusOK || d.Ignored != "superseded" {
		t.Errorf("a late push: %d %s", again.code, again.body)
	}
	if got := s.status(newer).Phase; got == "Stopped" {
		t.Error("a late push stopped the newer run")
	}
}
