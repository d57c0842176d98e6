//go:build cluster

package clustertest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/status"
)

// chain is one way of a push: the EventSource of a host, and the hook to which
// the host could send as well.
type chain struct {
	source, sensor, hook string
	// proof is the header that shows who sends; the others are the host's.
	proof  string
	header func(s *site, body []byte) http.Header
	body   func(sha string) any
}

var chains = []chain{{
	"runhook-github", "runhook-push-github", "acme", "X-Hub-Signature-256",
	func(s *site, body []byte) http.Header {
		return headers("X-GitHub-Event", "push", "X-GitHub-Delivery", hooktest.RandomHex(8), "X-Hub-Signature-256", s.signature(body))
	},
	func(sha string) any {
		p := hooktest.NewGitHubPush(`through the bus: {{.Input}} "quoted" <b>`)
		p.SHA = sha
		return json.RawMessage(p.Body())
	},
}, {
	"runhook-gitlab", "runhook-push-gitlab", "gitlab", "X-Gitlab-Token",
	func(s *site, _ []byte) http.Header {
		return headers("X-Gitlab-Event", "Push Hook", "X-Gitlab-Event-UUID", hooktest.RandomHex(8), "X-Gitlab-Token", s.secret("gitlab-secret"))
	},
	func(sha string) any {
		return map[string]any{
			"object_kind": "push", "ref": "refs/heads/main", "before": hooktest.RandomHex(20), "after": sha, "checkout_sha": sha,
			"project": map[string]any{"path_with_namespace": "acme/pump-models", "git_http_url": "https://gitlab.example/acme/pump-models.git"},
		}
	},
}, {
	"runhook-bitbucket-server", "runhook-push-bitbucket-server", "bitbucket-server", "X-Hub-Signature",
	func(s *site, body []byte) http.Header {
		mac := hmac.New(sha256.New, []byte(s.secret("bitbucket-server-secret")))
		mac.Write(body)
		return headers("X-Event-Key", "repo:refs_changed", "X-Request-Id", hooktest.RandomHex(8), "X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	},
	func(sha string) any {
		return map[string]any{
			"eventKey": "repo:refs_changed", "actor": map[string]any{"name": "ada"},
			"repository": map[string]any{"slug": "pump-models", "project": map[string]any{"key": "ACME"}},
			"changes":    []any{map[string]any{"ref": map[string]any{"id": "refs/heads/main", "type": "BRANCH"}, "fromHash": hooktest.RandomHex(20), "toHash": sha, "type": "UPDATE"}},
		}
	},
}}

func headers(pairs ...string) http.Header {
	header := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		header.Set(pairs[i], pairs[i+1])
	}
	return header
}

// TestAPushThroughArgoEventsIsTheSameRun sends each host's push through its
// EventSource, the bus and the Sensor, then straight to the hook.
func TestAPushThroughArgoEventsIsTheSameRun(t *testing.T) {
	t.Parallel()
	for _, c := range chains {
		t.Run(c.hook, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.beside(argoEvents)
			s.subscribed(c.sensor)
			sha := hooktest.RandomHex(20)
			body, err := json.Marshal(c.body(sha))
			must(s, err)
			header := c.header(s, body)
			s.emit(c.source, "/push", header, body)
			run := s.arrived(sha)

			request, err := http.NewRequest(http.MethodPost, s.url+"/hooks/"+c.hook, bytes.NewReader(body))
			must(s, err)
			request.Header = header.Clone()
			request.Header.Set("Content-Type", "application/json")
			got := s.do(request)
			if d := s.decisionOf(got); got.code != http.StatusAccepted || d.Run != run || d.Created {
				t.Errorf("straight to the hook: %d %s, want the run %s", got.code, got.body, run)
			}
			if names, err := s.runsOfCommit(sha); err != nil || len(names) != 1 {
				t.Errorf("the push has led to %v, %v", names, err)
			}
		})
	}
}

// What an EventSource cannot verify it does not take: nothing behind it could.
func TestAnEventSourceTakesNobodysWord(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.beside(argoEvents)
	refused := func(source, endpoint string, header http.Header, body []byte) {
		t.Helper()
		s.eventually("EventSource "+source+" answers", func() error {
			code, answer, err := s.toEventSource(source, endpoint, header, body)
			if err == nil && code == http.StatusOK {
				t.Errorf("%s has taken a delivery that proves nothing: %s", source, answer)
			}
			return err
		})
	}
	for _, c := range chains {
		body, err := json.Marshal(c.body(hooktest.RandomHex(20)))
		must(s, err)
		header := c.header(s, body)
		wrong := header.Clone()
		wrong.Set(c.proof, "sha256="+hex.EncodeToString(make([]byte, sha256.Size)))
		refused(c.source, "/push", wrong, body)
		header.Del(c.proof)
		refused(c.source, "/push", header, body)
	}
	for source, endpoint := range map[string]string{"runhook-webhook": "/submit", "runhook-alertmanager": "/alert", "runhook-state": "/state"} {
		refused(source, endpoint, http.Header{}, []byte("{}"))
		refused(source, endpoint, headers("Authorization", "Bearer hunter2"), []byte("{}"))
	}
}

// A run that comes through the webhook EventSource is the one that was written.
func TestAWebhookOfArgoEventsCallsAFunction(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.beside(argoEvents)
	s.subscribed("runhook-webhook")
	run := unique(t)
	body, err := json.Marshal(map[string]any{"id": run, "tasks": []any{task("say", `echo '{{x}} $HOME "`+end+`'`)}})
	must(s, err)
	s.emit("runhook-webhook", "/submit", headers("Authorization", "Bearer "+s.secret("webhook-token")), body)
	s.eventually("the run is there", func() error {
		_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		return err
	})
	s.deleteAtEnd(run)
	s.waitPhase(run, "Succeeded")
	if text := s.log(run, "say"); text != `{{x}} $HOME "` {
		t.Errorf("it said %q", text)
	}
}

// TestAStateChangeReachesASensor: the watch tells the webhook EventSource that a
// run has succeeded, and the Sensor of the example submits the one that follows.
func TestAStateChangeReachesASensor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.beside(argoEvents)
	s.beside(watchReplicas)
	s.subscribed("runhook-state")
	run := "train-" + unique(t)
	stream := s.follow(run)
	s.submit(map[string]any{"id": run, "queue": "research", "tasks": []any{task("fit", "true")}})
	stream.waitRun(s, "succeeded")
	follows := ""
	for _, e := range stream.all() {
		if e.Type == "runhook.run.succeeded.v1" {
			follows = "evaluate-" + e.ID[:16]
		}
	}
	s.eventually("the run that follows is there", func() error {
		w, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), follows, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if caller := w.Annotations["runhook/caller"]; caller != "sensor" {
			t.Errorf("%s was submitted by %q", follows, caller)
		}
		return nil
	})
	s.deleteAtEnd(follows)
}

// TestAnAlertThroughArgoEventsActsOnce repeats an alert: of three runs that wait
// it ends one, and the next alert another.
func TestAnAlertThroughArgoEventsActsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.alone(alertmanagerHooks)
	queue := s.scarce()
	s.beside(argoEvents)
	s.subscribed("runhook-alert")
	var runs []string
	for range 3 {
		runs = append(runs, s.submit(map[string]any{"id": unique(t), "queue": queue, "tasks": []any{task("fit", hold, cpu("500m"), retry(0))}}))
	}
	for _, run := range runs {
		s.runningPod(run, "fit")
	}
	s.outrank(queue, "1500m")
	for _, run := range runs {
		s.waitTasks(run, status.Preempted, "fit")
	}
	for i, tell := range []struct {
		fingerprint string
		stopped     int
	}{{runs[0], 1}, {runs[0], 1}, {runs[1], 2}} {
		acted := s.acted("runhook-alert")["alert"]
		body, err := io.ReadAll(s.notification(tell.fingerprint, queue).Body)
		must(s, err)
		s.emit("runhook-alertmanager", "/alert", headers("Authorization", "Bearer "+s.secret("alert-token")), body)
		var cancelled []string
		s.eventually("the Sensor has handed it over", func() error {
			now := s.acted("runhook-alert")["alert"]
			if cancelled = s.cancelled(runs); now <= acted || len(cancelled) < tell.stopped {
				return fmt.Errorf("it has acted %d times, before %d; cancelled are %v", now, acted, cancelled)
			}
			return nil
		})
		if len(cancelled) != tell.stopped {
			t.Fatalf("after %d notifications %v are cancelled, want %d", i+1, cancelled, tell.stopped)
		}
		for _, run := range cancelled { // until then it reads as one that waits
			s.waitTasks(run, status.Stopped, "fit")
		}
	}
}

// cancelled lists the runs that Argo was told to end.
func (s *site) cancelled(runs []string) []string {
	s.Helper()
	var cancelled []string
	for _, run := range runs {
		workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		must(s, err)
		if workflow.Spec.Shutdown != "" {
			cancelled = append(cancelled, run)
		}
	}
	return cancelled
}
