// Package stream shows events to readers as server-sent events. It keeps the
// last ones, so that a reader who was cut off misses none.
package stream

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
)

// Item is one event with the run that it belongs to, which says who may see it.
type Item struct {
	event.Event
	Run owner.Run
	// number counts the items of this process; 0: of the present state.
	number uint64
}

// Stream hands events to its readers.
type Stream struct {
	// instance tells the numbers of this process from those of another, which
	// may have seen events of different runs in another order.
	instance string
	// present gives the events that the present state implies.
	present func() []Item

	lock    sync.Mutex
	kept    []Item // the newest, oldest first
	bytes   int    // of their data
	count   uint64
	readers map[*reader]bool
}

// New makes a stream without readers.
func New(present func() []Item) *Stream {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return &Stream{instance: hex.EncodeToString(id), present: present, readers: map[*reader]bool{}}
}

// Publish shows events of a run to all readers. It does not wait for any: one
// who is too far behind is dropped.
func (s *Stream) Publish(events []event.Event, run owner.Run) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, e := range events {
		s.count++
		item := Item{Event: e, Run: run, number: s.count}
		s.kept = append(s.kept, item)
		s.bytes += len(e.Data())
		for r := range s.readers {
			select {
			case r.items <- item:
			default:
				delete(s.readers, r)
				close(r.items)
			}
		}
	}
	// Cut now and then only, so that not every event moves all the others.
	if len(s.kept) > 2*limits.StreamKept || s.bytes > limits.StreamBytes {
		s.cut()
	}
}

// cut leaves the newest events, and of their data half of what there may be.
func (s *Stream) cut() {
	from, bytes := len(s.kept), 0
	for from > 0 && len(s.kept)-from < limits.StreamKept {
		if bytes += len(s.kept[from-1].Data()); bytes > limits.StreamBytes/2 {
			break
		}
		from--
	}
	s.kept, s.bytes = append([]Item(nil), s.kept[from:]...), 0
	for _, item := range s.kept {
		s.bytes += len(item.Data())
	}
}

// reader is one who reads. Its channel is closed when it is too far behind.
type reader struct{ items chan Item }

// enter begins to read after an id: with what came since, or, where that is
// not known any more, with the present state.
func (s *Stream) enter(lastID string) (r *reader, missed []Item, reset bool, err error) {
	s.lock.Lock()
	if len(s.readers) >= limits.Streams {
		s.lock.Unlock()
		return nil, nil, false, fault.New(fault.Unavailable, "%d readers follow the events already", limits.Streams)
	}
	r = &reader{items: make(chan Item, limits.StreamBehind)}
	s.readers[r] = true
	if lastID == "" {
		s.lock.Unlock()
		return r, nil, false, nil
	}
	missed, known := s.since(lastID)
	s.lock.Unlock()
	if known {
		return r, missed, false, nil
	}
	return r, s.present(), true, nil
}

// since gives what came after an id; false: it was too long ago, or of another
// process.
func (s *Stream) since(id string) ([]Item, bool) {
	instance, text, _ := strings.Cut(id, ".")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || instance != s.instance || number > s.count || s.count-number > uint64(min(len(s.kept), limits.StreamKept)) {
		return nil, false
	}
	return append([]Item(nil), s.kept[len(s.kept)-int(s.count-number):]...), true
}

func (s *Stream) leave(r *reader) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.readers, r)
}

// id is what a reader gives back as Last-Event-ID.
func (s *Stream) id(i Item) string { return s.instance + "." + strconv.FormatUint(i.number, 10) }
