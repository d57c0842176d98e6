package once

import (
	"context"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// leases is a cluster's, which refuses an update of what was changed.
type leases struct {
	lock    sync.Mutex
	held    map[string]*coordinationv1.Lease
	version byte
	away    bool
}

func (l *leases) write(lease *coordinationv1.Lease, wants bool) (*coordinationv1.Lease, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	there := l.held[lease.Name]
	switch {
	case l.away:
		return nil, fault.New(fault.Unavailable, "away")
	case (there != nil) != wants, there != nil && there.ResourceVersion != lease.ResourceVersion:
		return nil, fault.New(fault.Conflict, "changed")
	}
	lease = lease.DeepCopy()
	l.version++
	lease.ResourceVersion = string('a' + l.version)
	l.held[lease.Name] = lease
	return lease, nil
}

func (l *leases) CreateLease(_ context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return l.write(lease, false)
}

func (l *leases) UpdateLease(_ context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return l.write(lease, true)
}

func (l *leases) Lease(_ context.Context, name string) (*coordinationv1.Lease, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.held[name], nil
}

func (l *leases) EachLease(_ context.Context, selector string, visit func(*coordinationv1.Lease)) error {
	if l.away || selector != Label {
		return fault.New(fault.Unavailable, "away")
	}
	for _, lease := range l.held {
		visit(lease.DeepCopy())
	}
	return nil
}

func (l *leases) DeleteLease(_ context.Context, lease *coordinationv1.Lease) error {
	switch there := l.held[lease.Name]; {
	case there == nil:
		return fault.New(fault.NotFound, "gone")
	case there.ResourceVersion != lease.ResourceVersion:
		return fault.New(fault.Conflict, "changed")
	}
	delete(l.held, lease.Name)
	return nil
}

func memory() (Memory, *leases, *time.Time) {
	on, now := &leases{held: map[string]*coordinationv1.Lease{}}, time.Unix(1_750_000_000, 0)
	return Memory{on, func() time.Time { return now }}, on, &now
}

func do(t *testing.T, m Memory, key string, done bool) bool {
	t.Helper()
	acted, err := m.Do(t.Context(), key, func() bool { return done })
	if err != nil {
		t.Fatal(err)
	}
	return acted
}

func TestOnce(t *testing.T) {
	m, _, now := memory()
	if !do(t, m, "a", false) || !do(t, m, "a", true) {
		t.Error("what was given up is not done again")
	}
	*now = now.Add(24 * time.Hour)
	if do(t, m, "a", true) {
		t.Error("acted twice")
	}
	if !do(t, m, "b", true) {
		t.Error("another key is taken for the same")
	}
}

func TestWhileSomebodyActs(t *testing.T) {
	m, _, now := memory()
	acted, err := m.Do(t.Context(), "a", func() bool {
		again, err := m.Do(t.Context(), "a", func() bool { return true })
		if again || fault.KindOf(err) != fault.Unavailable {
			t.Errorf("meanwhile: %t %v", again, err)
		}
		// Who began seems to be dead: another takes over.
		*now = now.Add(limits.OncePending)
		return do(t, m, "a", true)
	})
	if !acted || err != nil {
		t.Errorf("%t %v", acted, err)
	}
	if do(t, m, "a", true) {
		t.Error("who was late has made it undone")
	}
}

func TestManyAtOnce(t *testing.T) {
	m, _, _ := memory()
	var wait sync.WaitGroup
	var lock sync.Mutex
	deeds := 0
	for range 20 {
		wait.Go(func() {
			_, err := m.Do(t.Context(), "a", func() bool {
				lock.Lock()
				defer lock.Unlock()
				deeds++
				return true
			})
			if err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if deeds != 1 {
		t.Errorf("acted %d times", deeds)
	}
}

func TestWithoutTheCluster(t *testing.T) {
	m, on, _ := memory()
	on.away = true
	acted, err := m.Do(t.Context(), "a", func() bool { t.Error("acted"); return true })
	if acted || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%t %v", acted, err)
	}
}

// A caller whose time is over has acted all the same.
func TestTheDeedIsNotedAfterTheCall(t *testing.T) {
	m, _, _ := memory()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := m.Do(ctx, "a", func() bool { cancel(); return true }); err != nil {
		t.Fatal(err)
	}
	if do(t, m, "a", true) {
		t.Error("acted twice")
	}
}
