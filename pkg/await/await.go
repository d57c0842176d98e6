// Package await lets callers wait until something on the cluster changes. All
// who wait for one thing share one watch of it and one read after each change;
// a poll beneath covers a watch that breaks.
package await

import (
	"context"
	"sync"
	"time"
)

// Source is what things are watched and read with.
type Source[Key comparable, State any] interface {
	// Watch signals changes until the context ends. The channel is closed when
	// the watch breaks.
	Watch(ctx context.Context, key Key) (<-chan struct{}, error)
	// Read gives the present state.
	Read(ctx context.Context, key Key) (State, error)
}

// Pace says how often a thing is read.
type Pace struct {
	// Poll is how long without a signal until it is read anyway, and a broken
	// watch is made anew.
	Poll time.Duration
	// Gap is the least time between two reads: what changes a hundred times a
	// second is not read a hundred times.
	Gap time.Duration
}

// Room is where callers wait. Nothing is watched while nobody does.
type Room[Key comparable, State any] struct {
	source Source[Key, State]
	pace   Pace
	lock   sync.Mutex
	topics map[Key]*topic[State]
}

// topic is one thing that somebody waits for.
type topic[State any] struct {
	waiters int
	leave   context.CancelFunc
	// begun counts the reads.
	begun  int
	latest outcome[State]
	// news is closed when there is a later outcome.
	news chan struct{}
	// joined asks for a read: somebody came, who may know more than the last
	// one has shown.
	joined chan struct{}
}

// outcome is what a read gave.
type outcome[State any] struct {
	number int
	state  State
	err    error
}

// NewRoom makes a room that nobody is in.
func NewRoom[Key comparable, State any](source Source[Key, State], pace Pace) *Room[Key, State] {
	return &Room[Key, State]{source: source, pace: pace, topics: map[Key]*topic[State]{}}
}

// Until shows each state that is read to a caller until it says that this was
// what it has waited for, or the context ends. What could not be read is shown
// as well. Every state that is shown was read after the call began: a caller
// never sees an older one than it has seen already.
func (r *Room[Key, State]) Until(ctx context.Context, key Key, enough func(State, error) bool) {
	t, old := r.enter(key)
	defer r.exit(key, t)
	for {
		r.lock.Lock()
		latest, news := t.latest, t.news
		r.lock.Unlock()
		if latest.number > old && enough(latest.state, latest.err) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
	}
}

// enter joins those who wait, and tells which reads have begun before.
func (r *Room[Key, State]) enter(key Key) (t *topic[State], old int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	t = r.topics[key]
	if t == nil {
		// It belongs to all who wait, not to the call that came first.
		ctx, leave := context.WithCancel(context.Background())
		t = &topic[State]{leave: leave, news: make(chan struct{}), joined: make(chan struct{}, 1)}
		r.topics[key] = t
		go r.follow(ctx, key, t)
	} else {
		select {
		case t.joined <- struct{}{}:
		default:
		}
	}
	t.waiters++
	return t, t.begun
}

func (r *Room[Key, State]) exit(key Key, t *topic[State]) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if t.waiters--; t.waiters == 0 {
		t.leave()
		delete(r.topics, key)
	}
}

// follow reads a thing after each signal, until nobody waits for it. The watch
// stands before the first read, so that no change falls between the two.
func (r *Room[Key, State]) follow(ctx context.Context, key Key, t *topic[State]) {
	var signals <-chan struct{}
	for ctx.Err() == nil {
		if signals == nil {
			// Nil again when it fails: the poll goes on, and tries the next time.
			signals, _ = r.source.Watch(ctx, key)
		}
		r.read(ctx, key, t)
		if !sleep(ctx, r.pace.Gap) {
			return
		}
		poll := time.NewTimer(r.pace.Poll)
		select {
		case <-ctx.Done():
		case <-poll.C:
		case <-t.joined:
		case _, stands := <-signals:
			if !stands {
				signals = nil
			}
		}
		poll.Stop()
	}
}

// read reads a thing and shows it to all who wait.
func (r *Room[Key, State]) read(ctx context.Context, key Key, t *topic[State]) {
	r.lock.Lock()
	t.begun++
	latest := outcome[State]{number: t.begun}
	r.lock.Unlock()
	ctx, cancel := context.WithTimeout(ctx, r.pace.Poll)
	defer cancel()
	latest.state, latest.err = r.source.Read(ctx, key)
	r.lock.Lock()
	defer r.lock.Unlock()
	t.latest = latest
	close(t.news)
	t.news = make(chan struct{})
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
