package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// lookAgain is how often a follower looks for further attempts: Argo itself
// needs some seconds to start one.
const lookAgain = 2 * time.Second

// follower writes the logs of a task as they grow, until the task has ended.
type follower struct {
	reader
	caller  function.Caller
	request Request
}

// to follows what was found, and what comes after it.
func (f follower) to(ctx context.Context, w io.Writer, now found) error {
	ctx, cancel := context.WithTimeout(ctx, limits.FollowTime)
	defer cancel()
	joined := &joiner{w: w}
	if len(now.sources) == 1 {
		joined.quiet(now.sources[0].key())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limits.Followed)
	begun := map[string]bool{}
	for {
		for _, s := range now.sources {
			// What was shown is not missed when its pod is gone.
			shown := begun[s.key()] || (s.gone != "" && begun[s.slot()])
			if shown || (s.waits != "" && !now.ended) {
				continue
			}
			begun[s.key()], begun[s.slot()] = true, true
			group.Go(func() error { return f.one(ctx, joined, s) })
		}
		if now.ended {
			return quietly(ctx, group.Wait())
		}
		select {
		case <-ctx.Done():
			return quietly(ctx, group.Wait())
		case <-time.After(f.every):
		}
		again, err := f.look(ctx, f.caller, f.request)
		switch fault.KindOf(err) {
		case "":
			now = again
		case fault.Unavailable: // the API server restarts: what is followed goes on
		default:
			cancel()
			return errors.Join(err, quietly(ctx, group.Wait()))
		}
	}
}

// quietly forgets that the caller has gone away or has followed long enough.
func quietly(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.As(err, new(*writeError)) {
		return nil
	}
	return err
}

// writeError is an error of the caller's connection, which ends everything.
type writeError struct{ error }

// one follows one log. What cannot be read says so in the text.
func (f follower) one(ctx context.Context, joined *joiner, s source) error {
	l := s.log()
	if l.Error != "" {
		return written(joined.note(s.key(), l, l.Error))
	}
	stream, err := f.cluster.FollowLog(ctx, s.pod, s.container, f.request.Tail)
	if err != nil {
		return written(joined.note(s.key(), l, unreadable(s, err)))
	}
	defer stream.Close()
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if err := joined.write(s.key(), l, string(line)); err != nil {
				return written(err)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return written(joined.note(s.key(), l, "the log broke off"))
		}
	}
}

func written(err error) error {
	if err == nil {
		return nil
	}
	return &writeError{err}
}
