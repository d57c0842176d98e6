//go:build cluster

package clustertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
	"github.com/runhook/runhook/pkg/watch"
)

// told is one event of the watch's stream.
type told struct {
	ID, Type, Subject string
	// Attempt and Build are what an event about one tells.
	Attempt status.Attempt
	Build   event.Build
}

// UnmarshalJSON reads a CloudEvent. The data of a run and of a task is not read.
func (e *told) UnmarshalJSON(text []byte) error {
	var is struct {
		ID, Type, Subject string
		Data              json.RawMessage
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return err
	}
	e.ID, e.Type, e.Subject = is.ID, is.Type, is.Subject
	switch {
	case strings.HasPrefix(e.Type, "runhook.attempt."):
		return json.Unmarshal(is.Data, &e.Attempt)
	case strings.HasPrefix(e.Type, "runhook.build."):
		return json.Unmarshal(is.Data, &e.Build)
	default:
		return nil
	}
}

// follower reads the stream of the watch.
type follower struct {
	lock   sync.Mutex
	events []told
}

func (f *follower) all() []told {
	f.lock.Lock()
	defer f.lock.Unlock()
	return slices.Clone(f.events)
}

// of lists the phases or changes of one kind of event, in order.
func (f *follower) of(part string) []string {
	var all []string
	for _, e := range f.all() {
		if rest, ok := strings.CutPrefix(e.Type, "runhook."+part+"."); ok {
			all = append(all, strings.TrimSuffix(rest, ".v1"))
		}
	}
	return all
}

// waitRun waits until the run was told to be in a phase.
func (f *follower) waitRun(s *site, phase string) {
	s.Helper()
	s.eventually("the run is told to be "+phase, func() error {
		if phases := f.of("run"); !slices.Contains(phases, phase) {
			return fmt.Errorf("phases so far: %v", phases)
		}
		return nil
	})
}

// follow reads the events of a run, of one that is still to come too.
func (s *site) follow(run string) *follower {
	s.Helper()
	return s.followAfter(run, "")
}

// followAfter reads the events of a run or a build that come after one in the
// stream, until the test ends: after one that nobody knows the present state
// comes first. Where the stream is cut it comes again, as readers do.
func (s *site) followAfter(run, last string) *follower {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, env(s.T, "RUNHOOK_WATCH")+"/events?run="+run, nil)
	must(s, err)
	request.Header.Set("Authorization", "Bearer "+s.secret("demo-token"))
	request.Header.Set("Last-Event-ID", last)
	response, err := http.DefaultClient.Do(request)
	must(s, err)
	if response.StatusCode != http.StatusOK {
		s.Fatalf("the watch answered %d", response.StatusCode)
	}
	f := &follower{}
	go func() {
		last := f.read(response, "none yet")
		for s.Context().Err() == nil {
			request.Header.Set("Last-Event-ID", last)
			if again, err := http.DefaultClient.Do(request); err == nil {
				last = f.read(again, last)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	return f
}

// read notes the events of one connection, and gives the last one's place in
// the stream. Another replica begins with the present state: what is known of
// it is no second event.
func (f *follower) read(response *http.Response, last string) string {
	defer response.Body.Close()
	known := map[string]bool{}
	for _, e := range f.all() {
		known[e.ID] = true
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			last = id
		}
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e told
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			e.Type = "not JSON: " + text
		}
		if e.Type == "" || known[e.ID] {
			continue
		}
		f.lock.Lock()
		f.events = append(f.events, e)
		f.lock.Unlock()
	}
	return last
}

// replicas names the pods of runhook that serve, or those that watch.
func (s *site) replicas(app string) []string {
	s.Helper()
	list, err := s.kube.CoreV1().Pods("runhook-system").List(s.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + app})
	must(s, err)
	var names []string
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return names
}

// metricsOf reads what one replica counts.
func (s *site) metricsOf(pod string) ([]byte, error) {
	return s.kube.CoreV1().RESTClient().Get().Namespace("runhook-system").Resource("pods").Name(pod + ":9090").
		SubResource("proxy").Suffix("metrics").DoRaw(s.Context())
}

// countedBy adds up a series of all that serve, or all that watch. A replica that
// starts or ends answers nothing.
func (s *site) countedBy(app, series string) int {
	s.Helper()
	sum, pattern := 0, regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(series)+` (\d+)$`)
	s.eventually("every replica says its "+series, func() error {
		sum = 0
		for _, pod := range s.replicas(app) {
			text, err := s.metricsOf(pod)
			if err != nil {
				return err
			}
			match := pattern.FindSubmatch(text)
			if match == nil {
				return fmt.Errorf("%s has none", pod)
			}
			n, err := strconv.Atoi(string(match[1]))
			if err != nil {
				return err
			}
			sum += n
		}
		return nil
	})
	return sum
}

func TestEventsNeedTheirRight(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for token, want := range map[string]int{"": http.StatusUnauthorized, "planner-token": http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, env(t, "RUNHOOK_WATCH")+"/events", nil)
		must(s, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+s.secret(token))
		}
		if got := s.do(request); got.code != want {
			t.Errorf("with %q: %d %s, want %d", token, got.code, got.body, want)
		}
	}
}

// leader names the pod of the watch that sends.
func (s *site) leader() string {
	s.Helper()
	pod, _, _ := strings.Cut(s.leaseHolder(namespace), "_")
	return pod
}

// leaseHolder is who leads a watch: `<host>_<process id>`; empty: nobody has yet.
func (s *site) leaseHolder(namespace string) string {
	s.Helper()
	holder := ""
	s.eventually("the Lease of the watch is read", func() error {
		lease, err := s.kube.CoordinationV1().Leases(namespace).Get(s.Context(), watch.LeaseName, metav1.GetOptions{})
		if err == nil && lease.Spec.HolderIdentity != nil {
			holder = *lease.Spec.HolderIdentity
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return holder
}

// TestTheProofOutlivesTheLeader kills the leader of the watch in the moment of
// a preemption: the other replica keeps the proof, and leads.
func TestTheProofOutlivesTheLeader(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.alone(watchReplicas)
	queue, run := s.scarce(), unique(t)
	got := s.call("planner-token", "submit", map[string]any{"id": run, "queue": queue, "priority": "normal", "tasks": []any{
		task("fit", holdOnce, cpu("1500m"), retry(0)),
	}})
	if got.code != http.StatusCreated {
		t.Fatalf("submit answered %d: %s", got.code, got.body)
	}
	s.deleteAtEnd(run)
	s.settled(run, "fit(0)")
	old := s.leader()
	// As SIGKILL: nothing is flushed, and the Lease is not given back.
	must(s, s.kube.CoreV1().Pods("runhook-system").Delete(s.Context(), old, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	s.cancel(s.outrank(queue, "1500m"))
	s.waitPhase(run, "Succeeded")
	s.eventually("another replica leads", func() error {
		if now := s.leader(); now == "" || now == old {
			return fmt.Errorf("it is %q", now)
		}
		return nil
	})
	attempts := s.status(run).Attempts["fit"]
	if len(attempts) != 1 || attempts[0].Cause != cause.Preempted || !attempts[0].Interrupted {
		t.Errorf("the attempt reads %+v", attempts)
	}
	s.eventually("two replicas are ready again", func() error {
		is, err := s.kube.AppsV1().Deployments("runhook-system").Get(s.Context(), "runhook-watch", metav1.GetOptions{})
		if err != nil || is.Status.ReadyReplicas != 2 {
			return fmt.Errorf("%d are, %w", is.Status.ReadyReplicas, err)
		}
		return nil
	})
}
