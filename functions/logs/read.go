package logs

import (
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// read reads the logs side by side. What cannot be read says so in its own
// entry: none of them fails the others.
func (r reader) read(ctx context.Context, sources []source, tail *int64) []Log {
	logs := make([]Log, len(sources))
	var shared progress
	var group errgroup.Group
	group.SetLimit(limits.LogsAtOnce)
	for i, s := range sources {
		logs[i] = s.log()
		if logs[i].Error != "" {
			continue
		}
		group.Go(func() error {
			if reason := shared.skip(ctx, s.host); reason != "" {
				logs[i].Error = reason
				return nil
			}
			r.readOne(ctx, s, tail, &logs[i])
			shared.done(s.host, logs[i])
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	return logs
}

func (r reader) readOne(call context.Context, s source, tail *int64, into *Log) {
	ctx, cancel := context.WithTimeout(call, limits.LogTime)
	defer cancel()
	// One byte more than is given tells whether there is more.
	text, err := r.cluster.Log(ctx, s.pod, s.container, tail, limits.LogBytes+1)
	if into.Truncated = len(text) > limits.LogBytes; into.Truncated {
		text = text[:limits.LogBytes]
	}
	into.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	switch {
	case err != nil && call.Err() != nil:
		into.Error = outOfTime
	case err != nil:
		into.Error = unreadable(s, err)
	}
}

const outOfTime = "not read, since the call's time was over: ask for one worker"

// unreadable says why a log could not be read.
func unreadable(s source, err error) string {
	switch fault.KindOf(err) {
	case fault.NotFound:
		return gone
	case fault.Unavailable:
		return noAnswer(s.host)
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Error()
	}
	return "the log broke off"
}

func noAnswer(host string) string {
	return "node " + host + " does not give the log: it does not answer"
}

// progress is what the readers of one call tell each other.
type progress struct {
	lock  sync.Mutex
	bytes int
	dead  map[string]bool // nodes that did not answer: one wait for each is enough
}

// skip says why a log of a node is not worth asking for; empty: it is.
func (p *progress) skip(ctx context.Context, host string) string {
	p.lock.Lock()
	defer p.lock.Unlock()
	switch {
	case ctx.Err() != nil:
		return outOfTime
	case p.dead[host]:
		return noAnswer(host)
	case p.bytes >= limits.LogsBytes:
		return "not read, since the answer is large enough: ask for one worker, or for the last lines"
	}
	return ""
}

func (p *progress) done(host string, l Log) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.bytes += len(l.Text)
	if l.Error == noAnswer(host) {
		if p.dead == nil {
			p.dead = map[string]bool{}
		}
		p.dead[host] = true
	}
}
