//go:build cluster

package clustertest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/status"
)

// trial is a run of one task, fit, in a queue of its own, with all that is told
// and counted of it.
type trial struct {
	*site
	queue, run, leader string
	stream             *follower
	before             map[string]int
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	s := newSite(t)
	s.beside(watchReplicas)
	r := &trial{site: s, queue: s.own(), run: unique(t), leader: s.leader()}
	r.stream, r.before = s.follow(r.run), r.counts()
	return r
}

const begun = "begun"

// start submits the run; what is given beside its task is its own.
func (r *trial) start(fit map[string]any, more map[string]any) {
	r.Helper()
	body := map[string]any{"id": r.run, "queue": r.queue, "priority": "normal", "tasks": []any{fit}}
	maps.Copy(body, more)
	if got := r.call("planner-token", "submit", body); got.code != http.StatusCreated {
		r.Fatalf("submit answered %d: %s", got.code, got.body)
	}
	r.deleteAtEnd(r.run)
}

// waitBegun waits until the program has said that it has begun: it is ready to
// be told to end.
func (r *trial) waitBegun() *corev1.Pod {
	r.Helper()
	pod := r.runningPod(r.run, "fit")
	r.eventually("the program has begun", func() error {
		log, err := r.kube.CoreV1().Pods(namespace).GetLogs(pod.Name, podLogOptions).DoRaw(r.Context())
		if err == nil && !strings.Contains(string(log), begun) {
			return fmt.Errorf("it says %q", log)
		}
		return err
	})
	return pod
}

// ends are the events of attempts that ended, in the order of the attempts.
func (r *trial) ends() []told {
	all := slices.DeleteFunc(r.stream.all(), func(e told) bool { return e.Type != "runhook.attempt.ended.v1" })
	slices.SortStableFunc(all, func(a, b told) int { return cmp.Compare(a.Attempt.Attempt, b.Attempt.Attempt) })
	return all
}

// waitEnd waits until the end of the first attempt is told of.
func (r *trial) waitEnd() {
	r.Helper()
	r.eventually("the end of an attempt is told of", func() error {
		if len(r.ends()) == 0 {
			return fmt.Errorf("there are %+v", r.stream.all())
		}
		return nil
	})
}

// wantEnds waits for the end of the run and sees that each attempt reads as
// wanted: in status, when its pod is gone; in the one event that tells of it;
// and in the counts.
func (r *trial) wantEnds(phase status.Phase, want ...status.Attempt) {
	r.Helper()
	r.stream.waitRun(r.site, strings.ToLower(string(phase)))
	r.removePods()

	failed := slices.DeleteFunc(slices.Clone(want), func(a status.Attempt) bool { return a.Cause == cause.None })
	var listed []status.Attempt
	for _, a := range r.status(r.run).Attempts["fit"] {
		r.Logf("%s: Argo says %q of attempt %d", cmp.Or(a.Cause, "none"), a.Message, a.Attempt)
		listed = append(listed, essence(a))
	}
	if diff := gocmp.Diff(failed, listed); diff != "" {
		r.Errorf("attempts of status (-want +got):\n%s", diff)
	}
	var heard []status.Attempt
	ids := map[string]bool{}
	for _, e := range r.ends() {
		if ids[e.ID] {
			r.Errorf("event %s came twice", e.ID)
		}
		ids[e.ID] = true
		if e.Subject != r.run+"/fit" {
			r.Errorf("event %s is about %s", e.ID, e.Subject)
		}
		heard = append(heard, essence(e.Attempt))
	}
	if diff := gocmp.Diff(want, heard); diff != "" {
		r.Errorf("attempts of events (-want +got):\n%s", diff)
	}
	r.wantCounts(want)
	r.delete(r.run)
	r.wantCounts(want)
}

// essence is what the trials are about of an attempt. What Argo ends itself has
// ended for it before the program has, or without that it began.
func essence(a status.Attempt) status.Attempt {
	if a.Cause == cause.Stopped || a.Cause == cause.Deadline {
		a.ExitCode = nil
	}
	return status.Attempt{
		Attempt: a.Attempt, Phase: a.Phase, Cause: a.Cause, Reason: a.Reason,
		ExitCode: a.ExitCode, OOM: a.OOM, Interrupted: a.Interrupted, Restarted: a.Restarted,
	}
}

// succeeded is an attempt that nothing happened to.
func succeeded(attempt int) status.Attempt {
	return status.Attempt{Attempt: attempt, Phase: status.Succeeded, ExitCode: new(int)}
}

// removePods deletes the pods that are left, and waits until there are none.
func (r *trial) removePods() {
	r.Helper()
	of := metav1.ListOptions{LabelSelector: "runhook/run=" + r.run}
	must(r.site, r.kube.CoreV1().Pods(namespace).DeleteCollection(r.Context(), metav1.DeleteOptions{}, of))
	r.eventually("the run's pods are gone", func() error {
		left, err := r.kube.CoreV1().Pods(namespace).List(r.Context(), of)
		if err == nil && len(left.Items) > 0 {
			return fmt.Errorf("%d are left", len(left.Items))
		}
		return err
	})
}

// falseSuccess stands among the causes for the counter of false successes.
const falseSuccess = "false success"

// wantCounts sees that the counters rose by the attempts that ended, and that
// no other of the queue did: the alert of preemptions asks that of their cause.
func (r *trial) wantCounts(ended []status.Attempt) {
	r.Helper()
	want := map[string]int{}
	for _, a := range ended {
		want[cmp.Or(string(a.Cause), "none")]++
		if a.FalseSuccess() {
			want[falseSuccess]++
		}
	}
	r.eventually(fmt.Sprintf("what has ended in queue %s is counted", r.queue), func() error {
		rose := map[string]int{}
		for what, n := range r.counts() {
			if n != r.before[what] {
				rose[what] = n - r.before[what]
			}
		}
		if !maps.Equal(rose, want) {
			return fmt.Errorf("%v rose, want %v", rose, want)
		}
		return nil
	})
}

var endCounters = regexp.MustCompile(`(?m)^runhook_(attempts_ended|false_successes)_total\{(?:cause="([a-z-]+)",)?queue="([a-z0-9-]+)"\} (\d+)$`)

// counts reads the leader's counters of the queue.
func (r *trial) counts() map[string]int {
	r.Helper()
	if now := r.site.leader(); now != r.leader {
		r.Fatalf("%s led the watch, and now %s does", r.leader, now)
	}
	all := map[string]int{}
	r.eventually("the leader's counts are read", func() error {
		text, err := r.metricsOf(r.leader)
		for _, match := range endCounters.FindAllSubmatch(text, -1) {
			if string(match[3]) == r.queue {
				all[cmp.Or(string(match[2]), falseSuccess)], _ = strconv.Atoi(string(match[4]))
			}
		}
		if want := len(cause.All) + 2; err == nil && len(all) != want { // beside the causes none, and false successes
			return fmt.Errorf("%d series of queue %s, want %d", len(all), r.queue, want)
		}
		return err
	})
	return all
}
