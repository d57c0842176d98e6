// Package sink sends events over HTTP as CloudEvents, those of one run in
// order, each until it is taken or given up.
package sink

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
)

// Counter counts what became of an event: metrics.Delivered, Retried or Dead.
type Counter interface {
	Sent(kind, result string)
}

// HTTP is a sink that takes CloudEvents in binary mode. The webhook EventSource
// of Argo Events is one, too.
type HTTP struct {
	name, url string
	types     []string
	key       []byte // of the signature; nil: none
	client    *http.Client
	counter   Counter
	log       *slog.Logger

	lanes   []chan event.Event
	working sync.WaitGroup
	open    sync.RWMutex // held to send, and to close
	closed  bool
	// under ends what is still tried when the time to flush is over.
	under  context.Context
	giveUp context.CancelFunc
	pause  time.Duration
	retry  time.Duration
	now    func() time.Time
}

// New makes a sink of the config and begins its work.
func New(c config.Sink, counter Counter, log *slog.Logger) (*HTTP, error) {
	s := &HTTP{
		name: c.Name, url: c.URL, types: c.Types, counter: counter, log: log,
		client: &http.Client{
			Timeout: limits.SinkTime,
			// A redirect would carry the signed event to where the config did not say.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		pause: limits.SinkPause, retry: limits.SinkRetry, now: time.Now,
	}
	if c.Secret != nil {
		key, err := signingKey(c.Key)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "sink %s: %v", c.Name, err)
		}
		s.key = key
	}
	return s.start(), nil
}

func (s *HTTP) start() *HTTP {
	s.under, s.giveUp = context.WithCancel(context.Background())
	for range limits.SinkLanes {
		lane := make(chan event.Event, limits.SinkQueue)
		s.lanes = append(s.lanes, lane)
		s.working.Go(func() {
			for e := range lane {
				s.deliver(e)
			}
		})
	}
	return s
}

// Send takes an event, if it is of the types that the sink wants. One that has
// no room is a dead letter at once: a sink that is away must not fill the memory.
func (s *HTTP) Send(e event.Event) {
	if len(s.types) > 0 && !slices.Contains(s.types, e.Type()) {
		return
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed {
		s.bury(e, "the watch stops")
		return
	}
	select {
	case s.lanes[lane(e.RunOf(), len(s.lanes))] <- e:
	default:
		s.bury(e, "too many events wait for this sink")
	}
}

// lane is the same for all events of a run: that keeps their order.
func lane(run string, lanes int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(run)) // never fails
	return int(hash.Sum32() % uint32(lanes))
}

// Flush waits until all that was taken has been sent, or the context ends: what
// is left then is a dead letter here. The next leader sends it again.
func (s *HTTP) Flush(ctx context.Context) {
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

// errRefused is an answer that another try would not change.
var errRefused = errors.New("refused")

// deliver tries an event until it is taken.
func (s *HTTP) deliver(e event.Event) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = s.pause, limits.SinkPauseCap
	first := true
	_, err := backoff.Retry(s.under, func() (struct{}, error) {
		if !first {
			s.counter.Sent(e.Type(), metrics.Retried)
		}
		first = false
		err := s.post(s.under, e)
		if errors.Is(err, errRefused) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(s.retry))
	if err != nil {
		s.bury(e, err.Error())
		return
	}
	s.counter.Sent(e.Type(), metrics.Delivered)
}

// bury gives an event up. Whoever needs it finds its run by the subject.
func (s *HTTP) bury(e event.Event, why string) {
	s.counter.Sent(e.Type(), metrics.Dead)
	s.log.Error("an event is given up", "sink", s.name, "id", e.ID(), "type", e.Type(), "subject", e.Subject(), "error", why)
}

// post sends one event once.
func (s *HTTP) post(ctx context.Context, e event.Event) error {
	request, err := s.request(ctx, e)
	if err != nil {
		return errors.Join(errRefused, err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return reason(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, limits.SinkAnswer) // the connection is used again
	return judge(response)
}
