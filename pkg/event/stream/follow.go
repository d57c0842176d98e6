package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/runhook/runhook/pkg/limits"
)

// Follow writes events to a reader until the context ends, the reader is gone
// or too far behind. Only what may be seen and is wanted is written; each write
// is one event. It reports an error only before the first one.
func (s *Stream) Follow(ctx context.Context, to io.Writer, lastID string, f Filter, maySee func(Item) bool) error {
	r, missed, reset, err := s.enter(lastID)
	if err != nil {
		return err
	}
	defer s.leave(r)
	if _, err := io.WriteString(to, ": events of runs\n\n"); err != nil {
		return nil
	}
	if reset && !say(to, "reset", "the last event that you know is not known here; what follows is the present state") {
		return nil
	}
	for _, item := range missed {
		if f.wants(item.Event) && maySee(item) && !s.write(to, item) {
			return nil
		}
	}
	heartbeat := time.NewTicker(limits.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-heartbeat.C:
			if _, err := io.WriteString(to, ": heartbeat\n\n"); err != nil {
				return nil
			}
		case item, stands := <-r.items:
			if !stands {
				say(to, "dropped", fmt.Sprintf("you were more than %d events behind; come again with Last-Event-ID", limits.StreamBehind))
				return nil
			}
			if f.wants(item.Event) && maySee(item) && !s.write(to, item) {
				return nil
			}
		}
	}
}

// write writes one event as a CloudEvent in JSON; false: the reader is gone.
func (s *Stream) write(to io.Writer, item Item) bool {
	data, err := json.Marshal(item.Event.Event)
	if err != nil {
		return true // not an event that could be shown
	}
	var out bytes.Buffer
	if item.number > 0 {
		fmt.Fprintf(&out, "id: %s\n", s.id(item))
	}
	fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", item.Type(), data)
	_, err = to.Write(out.Bytes())
	return err == nil
}

// say tells a reader something that is no event of a run.
func say(to io.Writer, kind, reason string) bool {
	text, _ := json.Marshal(map[string]string{"reason": reason}) // cannot fail
	_, err := fmt.Fprintf(to, "event: %s\ndata: %s\n\n", kind, text)
	return err == nil
}
