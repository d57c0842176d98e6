package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/limits"
)

// desk is a receiver that opens when the test says so.
type desk struct {
	open  chan struct{}
	asked chan struct{}
	// says is the answer to an event, by its id.
	says  map[string]error
	order error
	got   []string
}

func (d *desk) Order(e event.Event) (string, error) { return e.RunOf(), d.order }

func (d *desk) Ready(ctx context.Context) error {
	select {
	case d.asked <- struct{}{}:
	default:
	}
	select {
	case <-d.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *desk) Post(_ context.Context, e event.Event) error {
	d.got = append(d.got, e.ID())
	return d.says[e.ID()]
}

func newDesk() *desk {
	return &desk{open: make(chan struct{}), asked: make(chan struct{}, 1), says: map[string]error{}}
}

func startDesk(d *desk, latest bool, c Counter) *Sink {
	return start(Options{Name: "desk", Receiver: d, Retry: time.Minute, Latest: latest, Counter: c, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, time.Millisecond)
}

// While the receiver lets nobody in, newer states of a run take the place of
// older ones, of the one that waits at the door too; the others are not touched.
func TestOnlyTheLatestIsSent(t *testing.T) {
	for latest, want := range map[bool][]string{true: {"3"}, false: {"1", "2", "3"}} {
		d, c := newDesk(), &tally{}
		s := startDesk(d, latest, c)
		s.Send(made("1", "run"))
		<-d.asked // the first one waits at the door
		s.Send(made("2", "run"))
		s.Send(made("3", "run"))
		close(d.open)
		s.Flush(t.Context())
		if diff := cmp.Diff(want, d.got); diff != "" {
			t.Errorf("latest %v (-want +got):\n%s", latest, diff)
		}
		if c.of["skipped"] != 3-len(want) || c.of["delivered"] != len(want) {
			t.Errorf("latest %v: %v", latest, c.of)
		}
		if len(s.newest.of) != 0 {
			t.Errorf("remembered for ever: %v", s.newest.of)
		}
	}
}

// An event that waits to be tried again gives way too.
func TestATryGivesWayToANewerState(t *testing.T) {
	d, c := newDesk(), &tally{}
	d.says["1"] = errors.New("away")
	s := startDesk(d, true, c)
	s.Send(made("1", "run"))
	d.open <- struct{}{} // its first try
	<-d.asked
	s.Send(made("2", "run"))
	close(d.open)
	s.Flush(t.Context())
	if last := d.got[len(d.got)-1]; last != "2" || c.of["skipped"] != 1 || c.of["delivered"] != 1 {
		t.Errorf("got %v, %v", d.got, c.of)
	}
}

// Who leads no more hears of what the next leader sends: what waits since then
// must not be shown after it. What nobody has passed is still the latest.
func TestAnotherReplicaSendsTheNewerState(t *testing.T) {
	for _, tc := range []struct {
		latest bool
		newer  string // the run of which it is told
		want   []string
	}{{true, "run", nil}, {true, "other", []string{"1"}}, {false, "run", []string{"1"}}} {
		d, c := newDesk(), &tally{}
		s := startDesk(d, tc.latest, c)
		s.Outdate(made("0", "run"))
		s.Send(made("1", "run"))
		s.Outdate(made("2", tc.newer))
		close(d.open)
		s.Flush(t.Context())
		if diff := cmp.Diff(tc.want, d.got); diff != "" || c.of["skipped"] != 1-len(tc.want) {
			t.Errorf("%+v: %v\n%s", tc, c.of, diff)
		}
		if len(s.newest.of) != 0 {
			t.Errorf("%+v: remembered for ever: %v", tc, s.newest.of)
		}
	}
}

// What finds no room passes nothing: the one before it is the latest to be sent.
func TestANewerStateThatFindsNoRoom(t *testing.T) {
	d, c := newDesk(), &tally{}
	s := startDesk(d, true, c)
	s.Send(made("1", "run"))
	huge := made("2", "run")
	huge.DataEncoded = make([]byte, limits.SinkBytes)
	s.Send(huge)
	close(d.open)
	s.Flush(t.Context())
	if diff := cmp.Diff([]string{"1"}, d.got); diff != "" || c.of["dead"] != 1 || len(s.newest.of) != 0 {
		t.Errorf("%v, remembered %v\n%s", c.of, s.newest.of, diff)
	}
}

// Names and messages of others' Workflows have any length: what waits is bounded
// by its bytes too, and room that was left is room again.
func TestWhatWaitsIsBoundedByItsBytes(t *testing.T) {
	d, c := newDesk(), &tally{}
	s := startDesk(d, false, c)
	data := make([]byte, 1<<20)
	const more = 3
	for i := range limits.SinkBytes/len(data) + more {
		e := made(fmt.Sprint(i), "run")
		e.DataEncoded = data
		s.Send(e)
	}
	close(d.open)
	s.Flush(t.Context())
	if c.of["dead"] != more || len(d.got) != limits.SinkBytes/len(data) || s.bytes.Load() != 0 {
		t.Errorf("%v, %d bytes are still held", c.of, s.bytes.Load())
	}
}

func TestWhatIsSkippedAndRefusedIsNotTriedAgain(t *testing.T) {
	d, c := newDesk(), &tally{}
	d.says["1"], d.says["2"] = ErrSkipped, ErrRefused
	close(d.open)
	s := startDesk(d, false, c)
	for _, id := range []string{"1", "2", "3"} {
		s.Send(made(id, "run"))
	}
	s.Flush(t.Context())
	if diff := cmp.Diff(map[string]int{"skipped": 1, "dead": 1, "delivered": 1}, c.of); diff != "" {
		t.Error(diff)
	}
}

// Neither waits for the receiver, who is asked about both at once.
func TestWhatIsNotForTheReceiver(t *testing.T) {
	for err, want := range map[error]map[string]int{ErrUnwanted: nil, ErrSkipped: {"skipped": 1}} {
		d, c := newDesk(), &tally{}
		d.order = err
		s := startDesk(d, true, c)
		s.Send(made("1", "run"))
		s.Flush(t.Context())
		if diff := cmp.Diff(want, c.of); diff != "" || len(d.got) > 0 {
			t.Errorf("%v: %v %s", err, d.got, diff)
		}
	}
}
