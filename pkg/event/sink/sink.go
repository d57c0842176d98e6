// Package sink sends events: those of one order one after another, each until
// it is taken or given up. A Receiver says where to, and how one try is made.
package sink

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
)

// Receiver is where the events of a sink go.
type Receiver interface {
	// Order gives what the order of an event is kept by. ErrUnwanted is one that
	// is not for this receiver, ErrSkipped one that it may not send.
	Order(e event.Event) (key string, err error)
	// Ready waits until the receiver may be asked.
	Ready(ctx context.Context) error
	// Post tries an event once. ErrRefused is an answer that another try would
	// not change, ErrSkipped that there is nothing to send.
	Post(ctx context.Context, e event.Event) error
}

// What a Receiver says besides errors that may pass.
var (
	ErrUnwanted = errors.New("unwanted")
	ErrRefused  = errors.New("refused")
	ErrSkipped  = errors.New("skipped")
)

// Counter counts what became of an event: metrics.Delivered, Retried, Dead or Skipped.
type Counter interface {
	Sent(kind, result string)
}

// Options say how a sink sends.
type Options struct {
	Name     string
	Receiver Receiver
	// Retry is how long an event is tried.
	Retry time.Duration
	// Latest leaves out an event that waits when a newer one of its order is there.
	Latest  bool
	Counter Counter
	Log     *slog.Logger
}

// Sink sends events to one receiver.
type Sink struct {
	Options
	pause time.Duration

	lanes   []chan letter
	working sync.WaitGroup
	open    sync.RWMutex // held to send, and to close
	closed  bool
	// under ends what is still tried when the time to flush is over.
	under  context.Context
	giveUp context.CancelFunc
	newest newest
	bytes  atomic.Int64 // of the data of all that wait
}

// letter is an event with what its order is kept by.
type letter struct {
	event.Event
	order string
}

func (l letter) size() int64 { return int64(len(l.Data())) }

// Start makes a sink and begins its work.
func Start(o Options) *Sink { return start(o, limits.SinkPause) }

func start(o Options, pause time.Duration) *Sink {
	s := &Sink{Options: o, pause: pause, newest: newest{of: map[string]last{}}}
	s.under, s.giveUp = context.WithCancel(context.Background())
	for range limits.SinkLanes {
		lane := make(chan letter, limits.SinkQueue)
		s.lanes = append(s.lanes, lane)
		s.working.Go(func() {
			for l := range lane {
				s.deliver(l)
			}
		})
	}
	return s
}

// Send takes an event, if it is for the receiver. One that has no room is a
// dead letter at once: a sink that is away must not fill the memory.
func (s *Sink) Send(e event.Event) {
	order, err := s.Receiver.Order(e)
	if errors.Is(err, ErrSkipped) {
		s.Counter.Sent(e.Type(), metrics.Skipped)
	}
	if err != nil {
		return
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed {
		s.bury(e, "the watch stops")
		return
	}
	if s.Latest {
		s.newest.note(order, e.ID())
	}
	l := letter{e, order}
	if s.bytes.Add(l.size()) <= limits.SinkBytes {
		select {
		case s.lanes[lane(order, len(s.lanes))] <- l:
			return
		default:
		}
	}
	s.bytes.Add(-l.size())
	s.newest.drop(order)
	s.bury(e, "too many events wait for this sink")
}

// Outdate tells of an event that another replica sends: one of its order that
// still waits here, and would come after it, is left out if only the latest counts.
func (s *Sink) Outdate(e event.Event) {
	if !s.Latest {
		return
	}
	if order, err := s.Receiver.Order(e); err == nil {
		s.newest.outdate(order, e.ID())
	}
}

// lane is the same for all events of one order: that keeps it.
func lane(order string, lanes int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(order)) // never fails
	return int(hash.Sum32() % uint32(lanes))
}

// Flush waits until all that was taken has been sent, or the context ends: what
// is left then is a dead letter here. The next leader sends it again.
func (s *Sink) Flush(ctx context.Context) {
	s.open.Lock()
	if !s.closed {
		s.closed = true
		for _, lane := range s.lanes {
			close(lane)
		}
	}
	s.open.Unlock()
	defer context.AfterFunc(ctx, s.giveUp)()
	s.working.Wait()
}

// deliver tries an event until it is taken, or a newer one makes it needless.
func (s *Sink) deliver(l letter) {
	defer s.bytes.Add(-l.size())
	defer s.newest.forget(l)
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = s.pause, limits.SinkPauseCap
	first := true
	_, err := backoff.Retry(s.under, func() (struct{}, error) {
		if err := s.Receiver.Ready(s.under); err != nil {
			return struct{}{}, err
		}
		if s.newest.passed(l) {
			return struct{}{}, backoff.Permanent(ErrSkipped)
		}
		if !first {
			s.Counter.Sent(l.Type(), metrics.Retried)
		}
		first = false
		err := s.Receiver.Post(s.under, l.Event)
		if errors.Is(err, ErrRefused) || errors.Is(err, ErrSkipped) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(s.Retry))
	switch {
	case errors.Is(err, ErrSkipped):
		s.Counter.Sent(l.Type(), metrics.Skipped)
	case err != nil:
		s.bury(l.Event, err.Error())
	default:
		s.Counter.Sent(l.Type(), metrics.Delivered)
	}
}

// bury gives an event up. Whoever needs it finds its run by the subject.
func (s *Sink) bury(e event.Event, why string) {
	s.Counter.Sent(e.Type(), metrics.Dead)
	s.Log.Error("an event is given up", "sink", s.Name, "id", e.ID(), "type", e.Type(), "subject", e.Subject(), "error", why)
}
