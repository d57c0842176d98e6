package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	ce "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// made makes an event about a run's phase.
func made(id, run string, phase status.Phase) event.Event {
	e := ce.New()
	e.SetID(id)
	e.SetType("runhook.run." + strings.ToLower(string(phase)) + ".v1")
	e.SetSource("/namespaces/runs")
	e.SetSubject(run)
	return event.Event{Event: e, Phase: phase}
}

// reading is a reader on the other end of a pipe.
type reading struct {
	*testing.T
	lines *bufio.Scanner
	stop  context.CancelFunc
	ended chan error
}

func read(t *testing.T, s *Stream, lastID string, f Filter, maySee func(Item) bool) *reading {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	from, to := io.Pipe()
	r := &reading{T: t, lines: bufio.NewScanner(from), stop: stop, ended: make(chan error, 1)}
	go func() {
		r.ended <- s.Follow(ctx, to, lastID, f, maySee)
		to.Close()
	}()
	t.Cleanup(func() { stop(); from.Close() })
	if !r.lines.Scan() || !strings.HasPrefix(r.lines.Text(), ":") {
		t.Fatalf("the stream begins with %q", r.lines.Text())
	}
	return r
}

// next gives the fields of the next message.
func (r *reading) next() map[string]string {
	r.Helper()
	fields := map[string]string{}
	for r.lines.Scan() {
		if r.lines.Text() == "" && len(fields) > 0 {
			return fields
		}
		if name, value, ok := strings.Cut(r.lines.Text(), ": "); ok && name != "" {
			fields[name] = value
		}
	}
	return fields
}

func anybody(Item) bool { return true }

func nothing() []Item { return nil }

func TestFilters(t *testing.T) {
	s := New(nothing)
	mine := func(i Item) bool { return i.Run.Annotations[owner.Annotation] == "me" }
	r := read(t, s, "", Filter{Runs: []string{"a"}, Phases: []string{"Failed"}}, mine)
	me, you := owner.Run{Annotations: map[string]string{owner.Annotation: "me"}}, owner.Run{}
	s.Publish([]event.Event{made("1", "a", status.Running), made("2", "a", status.Failed)}, you)
	s.Publish([]event.Event{made("3", "b", status.Failed)}, me)
	s.Publish([]event.Event{made("4", "a", status.Running), made("5", "a", status.Failed)}, me)
	got := r.next()
	if got["event"] != "runhook.run.failed.v1" || !strings.Contains(got["data"], `"id":"5"`) || !strings.Contains(got["data"], `"subject":"a"`) || got["id"] == "" {
		t.Errorf("got %v", got)
	}
}

// A build's phases are its own.
func TestFiltersKnowBuilds(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "build-1", UID: "1"}, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailed, Status: "True", Reason: batchv1.JobReasonDeadlineExceeded},
	}}}
	for query, want := range map[string]int{
		"phase=TimedOut": 1, "phase=Failed": 0, "phase=Pending": 1, "type=runhook.build.timedout.v1": 1, "run=build-1": 2, "run=a": 0,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := ReadFilter(values)
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for _, e := range event.OfBuild(job, nil, "/namespaces/runs") {
			if filter.wants(e) {
				passed++
			}
		}
		if passed != want {
			t.Errorf("%s passes %d of pending and timed out, want %d", query, passed, want)
		}
	}
}

func TestAReaderComesBack(t *testing.T) {
	s := New(func() []Item { return []Item{{Event: made("present", "a", status.Running)}} })
	first := read(t, s, "", Filter{}, anybody)
	s.Publish([]event.Event{made("1", "a", status.Running)}, owner.Run{})
	known := first.next()["id"]
	first.stop()
	<-first.ended
	s.Publish([]event.Event{made("2", "a", status.Failed)}, owner.Run{})

	again := read(t, s, known, Filter{}, anybody)
	if got := again.next(); !strings.Contains(got["data"], `"id":"2"`) {
		t.Errorf("after %s came %v", known, got)
	}
	for name, id := range map[string]string{"another process": "0000.1", "not an id": "hello", "to come": s.instance + ".999999999", "too old": s.instance + ".0"} {
		if name == "too old" {
			for range limits.StreamKept {
				s.Publish([]event.Event{made("x", "a", status.Running)}, owner.Run{})
			}
		}
		lost := read(t, s, id, Filter{}, anybody)
		reset, present := lost.next(), lost.next()
		if reset["event"] != "reset" || !strings.Contains(present["data"], `"id":"present"`) || present["id"] != "" {
			t.Errorf("%s: %v, then %v", name, reset, present)
		}
	}
	// The last ones are still there when old ones are cut.
	for range 2 * limits.StreamKept {
		s.Publish([]event.Event{made("x", "a", status.Running)}, owner.Run{})
	}
	s.Publish([]event.Event{made("last", "a", status.Failed)}, owner.Run{})
	near := read(t, s, fmt.Sprintf("%s.%d", s.instance, s.count-1), Filter{}, anybody)
	if got := near.next(); !strings.Contains(got["data"], `"id":"last"`) {
		t.Errorf("got %v", got)
	}
	if len(s.kept) > 2*limits.StreamKept {
		t.Errorf("%d are kept", len(s.kept))
	}
}

// One who does not read keeps nobody from reading, and is told why it was dropped.
// Events of others' Workflows may be large: fewer are kept then, and who missed
// more than those is given the present state.
func TestWhatIsKeptIsBoundedByItsBytes(t *testing.T) {
	s := New(nothing)
	e := made("1", "a", status.Running)
	e.DataEncoded = make([]byte, 1<<20)
	total := 2 * limits.StreamBytes / len(e.DataEncoded)
	for range total {
		s.Publish([]event.Event{e}, owner.Run{})
		held := 0
		for _, item := range s.kept {
			held += len(item.Data())
		}
		if held > limits.StreamBytes || held != s.bytes {
			t.Fatalf("%d bytes are kept, and %d counted", held, s.bytes)
		}
	}
	for _, kept := range []int{0, 1, len(s.kept)} {
		if missed, known := s.since(s.id(Item{number: uint64(total - kept)})); !known || len(missed) != kept {
			t.Errorf("of the last %d it gives %d, %t", kept, len(missed), known)
		}
	}
	if _, known := s.since(s.id(Item{number: uint64(total - len(s.kept) - 1)})); known {
		t.Error("what is not kept is known")
	}
}

func TestASlowReaderIsDropped(t *testing.T) {
	s := New(nothing)
	slow := read(t, s, "", Filter{}, anybody)
	for range limits.StreamBehind + 2 {
		s.Publish([]event.Event{made("x", "a", status.Running)}, owner.Run{})
	}
	got := map[string]string{}
	for got["event"] != "dropped" {
		if got = slow.next(); len(got) == 0 {
			t.Fatal("the stream ended without a reason")
		}
	}
	if !strings.Contains(got["data"], "Last-Event-ID") {
		t.Errorf("the reason: %v", got)
	}
	if err := <-slow.ended; err != nil {
		t.Error(err)
	}
	if len(s.readers) != 0 {
		t.Errorf("%d readers are left", len(s.readers))
	}
}

func TestTooManyReaders(t *testing.T) {
	s := New(nothing)
	for range limits.Streams {
		if _, _, _, err := s.enter(""); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Follow(t.Context(), io.Discard, "", Filter{}, anybody)
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("one more: %v", err)
	}
}

// A reader who hangs up is forgotten.
type hungUp struct{}

func (hungUp) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAReaderWhoHangsUp(t *testing.T) {
	s := New(nothing)
	if err := s.Follow(t.Context(), hungUp{}, "", Filter{}, anybody); err != nil || len(s.readers) != 0 {
		t.Errorf("%v, %d readers", err, len(s.readers))
	}
}

func TestReadFilter(t *testing.T) {
	good, err := ReadFilter(url.Values{"run": {"a", "b"}, "type": {"runhook.run.failed.v1"}, "phase": {"Preempted", "TimedOut"}})
	want := Filter{Runs: []string{"a", "b"}, Types: []string{"runhook.run.failed.v1"}, Phases: []string{"Preempted", "TimedOut"}}
	if diff := cmp.Diff(want, good); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []url.Values{{"typ": {"x"}}, {"type": {"runhook.run.fialed.v1"}}, {"phase": {"preempted"}}} {
		if _, err := ReadFilter(bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func FuzzReadFilter(f *testing.F) {
	f.Add("run=a&type=runhook.run.failed.v1&phase=Failed", "0000.1")
	f.Fuzz(func(t *testing.T, query, id string) {
		s := New(nothing)
		s.Publish([]event.Event{made("1", "a", status.Running)}, owner.Run{})
		if missed, known := s.since(id); known && len(missed) > 1 {
			t.Errorf("%q: %d missed", id, len(missed))
		}
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if filter, err := ReadFilter(values); err == nil {
			filter.wants(made("1", "a", status.Running))
		}
	})
}
