//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// The local Alertmanager tells of this alert in this queue, and of nothing else.
const (
	preemptionAlert = "RunhookRunPreempted"
	alertedQueue    = "alerted"
	// alertmanagerHooks are whose deliveries a test counts alone.
	alertmanagerHooks = "alerts"
	// What is counted of it: preemptions, and what became of Alertmanager's deliveries.
	preemptedAttempts = `runhook_attempts_ended_total{cause="preempted",queue="` + alertedQueue + `"}`
	actedAlerts       = `runhook_hooks_total{provider="alertmanager",result="accepted"}`
	ignoredAlerts     = `runhook_hooks_total{provider="alertmanager",result="ignored"}`
	// alertedWithin is from Kueue's condition on the pod to the alert that fires.
	alertedWithin = 30 * time.Second
)

// TestPreemptionIsProvenToldCountedAndActedOnOnce follows one preemption all the
// way: Kueue, the watch, Prometheus, Alertmanager, and a function that is called.
// It has the machine to itself: it holds the alert against a time.
func TestPreemptionIsProvenToldCountedAndActedOnOnce(t *testing.T) {
	s := newSite(t)
	s.beside(watchReplicas)
	s.alone(alertmanagerHooks)
	s.quiet()
	run, start := unique(t), time.Now()
	stream := s.follow(run)
	s.submit(map[string]any{"id": run, "queue": alertedQueue, "priority": "normal", "tasks": []any{
		task("fit", holdOnce, cpu("100m"), retry(0)),
	}})
	s.settled(run, "fit(0)")
	other := s.outrank(alertedQueue, "100m")

	stream.waitRun(s, "preempted")
	s.wantProofAfterThePod(run)
	fired := s.firing()
	after := fired.Sub(s.provenAt(run))
	t.Logf("the alert fired %s after the preemption", after)
	if after < 0 || after > alertedWithin {
		t.Errorf("the alert fired %s after the preemption, want within %s", after, alertedWithin)
	}
	told := run + "-told"
	s.deleteAtEnd(told)
	s.eventually("the alert has called a function", func() error {
		_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), told, metav1.GetOptions{})
		return err
	})
	acted := time.Now()
	s.eventually("Alertmanager has told of it twice again", func() error {
		if again := s.rose(ignoredAlerts, acted); again < 2 {
			return fmt.Errorf("%d times so far", again)
		}
		return nil
	})
	s.waitPhase(told, "Succeeded")
	if text := s.log(told, "tell"); text != run {
		t.Errorf("the action is about %q", text)
	}

	s.cancel(other)
	s.waitPhase(run, "Succeeded")
	stream.waitRun(s, "succeeded")
	s.wantOnePreemptionTold(run, stream)
	for _, counter := range []string{preemptedAttempts, actedAlerts} {
		if rose := s.rose(counter, start); rose != 1 {
			t.Errorf("%s rose by %d, want 1", counter, rose)
		}
	}
}

// rose says by how much a counter rose since then, summed up over the replicas,
// in what Prometheus has read of them: its `increase` would guess what came
// between, and a replica takes what it counts with it.
func (s *site) rose(counter string, since time.Time) int {
	s.Helper()
	var got struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	s.ask("RUNHOOK_PROMETHEUS", "/api/v1/query?query="+url.QueryEscape(fmt.Sprintf("%s[%dms]", counter, time.Since(since).Milliseconds()+1)), &got)
	rose := 0
	for _, replica := range got.Data.Result {
		last := 0
		for i, sample := range replica.Values {
			value, err := strconv.Atoi(fmt.Sprint(sample[1]))
			must(s, err)
			switch {
			case i == 0:
			case value < last: // it was started anew
				rose += value
			default:
				rose += value - last
			}
			last = value
		}
	}
	return rose
}

// quiet waits until what a test before has made is over: an alert that still
// stands would not be a new one.
func (s *site) quiet() {
	s.Helper()
	s.eventually("no alert of the queue stands", func() error {
		if at, stands := s.alert(); stands {
			return fmt.Errorf("Prometheus has one since %s", at)
		}
		var known []any
		s.ask("RUNHOOK_ALERTMANAGER", "/api/v2/alerts?"+url.Values{"filter": {"alertname=" + preemptionAlert, "queue=" + alertedQueue}}.Encode(), &known)
		if len(known) > 0 {
			return fmt.Errorf("Alertmanager has %v", known)
		}
		return nil
	})
}

// firing waits until Prometheus fires, and says when it did by its own clock.
func (s *site) firing() time.Time {
	s.Helper()
	var at time.Time
	s.eventually("Prometheus fires the alert", func() error {
		var fires bool
		if at, fires = s.alert(); !fires {
			return fmt.Errorf("it does not")
		}
		return nil
	})
	return at
}

// alert says since when the alert of the queue stands. It has no `for`: it fires at once.
func (s *site) alert() (since time.Time, stands bool) {
	s.Helper()
	var got struct {
		Data struct {
			Alerts []struct {
				Labels   map[string]string
				State    string
				ActiveAt time.Time
			}
		}
	}
	s.ask("RUNHOOK_PROMETHEUS", "/api/v1/alerts", &got)
	for _, a := range got.Data.Alerts {
		if a.Labels["alertname"] == preemptionAlert && a.Labels["queue"] == alertedQueue && a.State == "firing" {
			return a.ActiveAt, true
		}
	}
	return time.Time{}, false
}

// ask reads the JSON of another program of the cluster.
func (s *site) ask(program, path string, into any) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, env(s.T, program)+path, nil)
	must(s, err)
	got := s.send(request)
	if got.code != http.StatusOK {
		s.Fatalf("%s answered %d: %s", path, got.code, got.body)
	}
	must(s, json.Unmarshal(got.body, into))
}

// wantProofAfterThePod waits until the preempted pod is gone: its cause stays.
func (s *site) wantProofAfterThePod(run string) {
	s.Helper()
	s.wantPreempted(run, "fit", 1)
	pod := s.status(run).Attempts["fit"][0].Pod
	s.eventually("the preempted pod is gone", func() error {
		_, err := s.kube.CoreV1().Pods(namespace).Get(s.Context(), pod, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there, or: %w", err)
	})
	a := s.status(run).Attempts["fit"][0]
	if a.Cause != cause.Preempted || a.Reason != "WorkloadEvictedDueToPreempted" || !a.Interrupted {
		s.Errorf("after the pod is gone the attempt reads %+v", a)
	}
}

// provenAt is when Kueue wrote its condition on the preempted pod.
func (s *site) provenAt(run string) time.Time {
	s.Helper()
	workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
	must(s, err)
	evidence, err := cause.Decode(workflow.Annotations[cause.Annotation])
	must(s, err)
	for _, entry := range evidence.Entries() {
		for _, c := range entry.Conditions {
			if c.Reason == "WorkloadEvictedDueToPreempted" {
				return c.At
			}
		}
	}
	s.Fatalf("no proof of a preemption is kept: %+v", evidence.Entries())
	return time.Time{}
}

// wantOnePreemptionTold holds all that the stream has told of a run that was
// preempted once against what happened.
func (s *site) wantOnePreemptionTold(run string, stream *follower) {
	s.Helper()
	phases := slices.DeleteFunc(stream.of("run"), func(phase string) bool { return phase == "pending" })
	if want := []string{"running", "preempted", "running", "succeeded"}; !slices.Equal(phases, want) {
		s.Errorf("the run was %v, want %v", phases, want)
	}
	if changes, want := stream.of("attempt"), []string{"started", "ended", "started", "ended"}; !slices.Equal(changes, want) {
		s.Errorf("its attempts were %v, want %v", changes, want)
	}
	ids, preempted := map[string]int{}, 0
	for _, e := range stream.all() {
		ids[e.ID]++
		if e.Type == "runhook.attempt.ended.v1" && e.Attempt.Cause == cause.Preempted && e.Attempt.Interrupted && e.Subject == run+"/fit" {
			preempted++
		}
	}
	if preempted != 1 {
		s.Errorf("%d attempts were told to be preempted, want 1: %+v", preempted, stream.all())
	}
	for id, times := range ids {
		if times > 1 {
			s.Errorf("event %s came %d times", id, times)
		}
	}
}
