package await

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errAway = errors.New("the cluster is away")

// source holds a number, whose watches and reads are counted.
type source struct {
	lock    sync.Mutex
	value   int
	away    bool // reads fail
	noWatch bool // watches fail
	watches int
	reads   int
	open    int
	signals chan struct{}
}

func (s *source) Watch(ctx context.Context, _ string) (<-chan struct{}, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.watches++
	if s.noWatch {
		return nil, errAway
	}
	s.open++
	s.signals = make(chan struct{}, 1)
	context.AfterFunc(ctx, func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.open--
	})
	return s.signals, nil
}

func (s *source) Read(context.Context, string) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.reads++
	if s.away {
		return 0, errAway
	}
	return s.value, nil
}

// set changes the number, and says so when the watch is not to miss it.
func (s *source) set(value int, signal bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.value = value
	if signal {
		select {
		case s.signals <- struct{}{}:
		default:
		}
	}
}

func (s *source) breakWatch() {
	s.lock.Lock()
	defer s.lock.Unlock()
	close(s.signals)
}

var pace = Pace{Poll: 5 * time.Second, Gap: 200 * time.Millisecond}

// is waits until a room's thing has a value.
func is(ctx context.Context, room *Room[string, int], value int) (seen bool) {
	room.Until(ctx, "a", func(state int, err error) bool {
		seen = err == nil && state == value
		return seen
	})
	return seen
}

func TestAThousandWaitersShareOneWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{}
		room := NewRoom(on, pace)
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if !is(t.Context(), room, 7) {
					t.Error("the change was not seen")
				}
			})
		}
		synctest.Wait()
		time.Sleep(time.Second)
		before := time.Now()
		on.set(7, true)
		all.Wait()
		if waited := time.Since(before); waited > 0 {
			t.Errorf("the change was seen after %s, want at once", waited)
		}
		// One for the first, one for all who came after it, one for the change.
		if on.watches != 1 || on.reads > 3 {
			t.Errorf("%d watches and %d reads, want 1 and at most 3", on.watches, on.reads)
		}
		synctest.Wait()
		if on.open != 0 || len(room.topics) != 0 {
			t.Errorf("nobody waits, but %d watches are open and %d topics kept", on.open, len(room.topics))
		}
	})
}

func TestABrokenWatchLosesNothing(t *testing.T) {
	for name, breaks := range map[string]struct {
		before func(*source)
		change func(*source)
		within time.Duration
	}{
		"it breaks, then comes the change":    {func(*source) {}, func(s *source) { s.breakWatch(); synctest.Wait(); s.set(7, true) }, pace.Gap},
		"the change comes while it is broken": {func(*source) {}, func(s *source) { s.set(7, false); s.breakWatch() }, 0},
		"it is deaf":                          {func(*source) {}, func(s *source) { s.set(7, false) }, pace.Poll},
		"it cannot be made":                   {func(s *source) { s.noWatch = true }, func(s *source) { s.set(7, false) }, pace.Poll},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &source{}
				breaks.before(on)
				room := NewRoom(on, pace)
				seen := make(chan bool)
				go func() { seen <- is(t.Context(), room, 7) }()
				time.Sleep(time.Second)
				before := time.Now()
				breaks.change(on)
				if !<-seen {
					t.Error("the change was not seen")
				}
				if waited := time.Since(before); waited > breaks.within {
					t.Errorf("seen after %s, want within %s", waited, breaks.within)
				}
			})
		})
	}
}

func TestABrokenWatchIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{noWatch: true}
		room := NewRoom(on, pace)
		seen := make(chan bool)
		go func() { seen <- is(t.Context(), room, 7) }()
		synctest.Wait()
		on.lock.Lock()
		on.noWatch = false
		on.lock.Unlock()
		time.Sleep(pace.Poll + pace.Gap + time.Second)
		before := time.Now()
		on.set(7, true)
		if !<-seen || time.Since(before) > 0 {
			t.Errorf("seen after %s, want at once by a new watch", time.Since(before))
		}
	})
}

func TestAnOutageIsShownAndPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{away: true}
		room := NewRoom(on, pace)
		var failures int
		done := make(chan struct{})
		go func() {
			defer close(done)
			room.Until(t.Context(), "a", func(state int, err error) bool {
				if err != nil {
					failures++
				}
				return state == 7
			})
		}()
		time.Sleep(pace.Poll)
		on.lock.Lock()
		on.away, on.value = false, 7
		on.lock.Unlock()
		<-done
		if failures == 0 {
			t.Error("the outage was not shown")
		}
	})
}

func TestOneLeavesTheOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{}
		room := NewRoom(on, pace)
		seen := make(chan bool)
		go func() { seen <- is(t.Context(), room, 7) }()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if is(short, room, 7) {
			t.Error("seen before it was there")
		}
		on.set(7, true)
		if !<-seen {
			t.Error("the other one was sent away too")
		}
		if on.watches != 1 {
			t.Errorf("%d watches", on.watches)
		}
	})
}

func TestABurstIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{}
		room := NewRoom(on, pace)
		seen := make(chan bool)
		go func() { seen <- is(t.Context(), room, 100) }()
		time.Sleep(time.Second)
		for value := range 101 {
			on.set(value, true)
			time.Sleep(time.Millisecond)
		}
		<-seen
		if on.reads > 4 {
			t.Errorf("%d reads for a burst of a tenth of a second", on.reads)
		}
	})
}

// Who has seen a change that the others have not yet been shown does not get
// the state before it.
func TestNobodySeesAnOlderState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{value: 1}
		room := NewRoom(on, pace)
		first := make(chan bool)
		go func() { first <- is(t.Context(), room, 3) }()
		time.Sleep(time.Second)
		on.set(2, false)
		var seen []int
		room.Until(t.Context(), "a", func(state int, _ error) bool {
			if seen = append(seen, state); len(seen) == 1 {
				on.set(3, true)
			}
			return state == 3
		})
		if seen[0] != 2 {
			t.Errorf("seen: %v, want 2 first", seen)
		}
		<-first
	})
}
