//go:build cluster

package clustertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/status"
)

// notification makes the request with which Alertmanager tells of one alert
// about a queue.
func (s *site) notification(fingerprint, queue string) *http.Request {
	s.Helper()
	body, err := json.Marshal(map[string]any{"version": "4", "status": "firing", "alerts": []any{map[string]any{
		"status": "firing", "fingerprint": fingerprint, "startsAt": "2026-01-01T00:00:00Z", "labels": map[string]string{"queue": queue},
	}}})
	must(s, err)
	request, err := http.NewRequest(http.MethodPost, s.url+"/hooks/alerts", strings.NewReader(string(body)))
	must(s, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.secret("alert-token"))
	return request
}

// The route of the overlay's hook cancels the run that has waited longest.
func TestAnAlertEndsAPreemptedRunOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.alone(alertmanagerHooks)
	queue := s.scarce()
	run := s.submit(map[string]any{"id": unique(t), "queue": queue, "tasks": []any{task("fit", hold, cpu("1500m"), retry(0))}})
	s.runningPod(run, "fit")
	if got := s.decisionOf(s.do(s.notification(run+"-early", queue))); got.Ignored != "no-match" {
		t.Errorf("while it runs: %+v", got)
	}
	s.outrank(queue, "1500m")
	s.waitTasks(run, status.Preempted, "fit")

	got := s.do(s.notification(run, queue))
	if d := s.decisionOf(got); got.code != http.StatusAccepted || d.Call != "cancel" || d.Run != run {
		t.Fatalf("%d %s", got.code, got.body)
	}
	s.waitTasks(run, status.Stopped, "fit")
	got = s.do(s.notification(run, queue))
	if d := s.decisionOf(got); got.code != http.StatusOK || d.Ignored != "duplicate" {
		t.Errorf("sent again: %d %s", got.code, got.body)
	}
}
