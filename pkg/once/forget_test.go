package once

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// late changes a Lease between its being listed and its being deleted.
type late struct {
	*leases
	changed, gone string
}

func (l late) DeleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	if lease.Name == l.gone {
		delete(l.held, lease.Name)
	}
	if lease.Name == l.changed {
		l.held[lease.Name].ResourceVersion = "z"
	}
	return l.leases.DeleteLease(ctx, lease)
}

func TestWhatIsOldIsForgotten(t *testing.T) {
	const keep = 7 * 24 * time.Hour
	m, on, now := memory()
	began := *now
	for _, key := range []string{"old", "changed meanwhile", "gone meanwhile", "given up"} {
		do(t, m, key, key != "given up")
	}
	on.held["broken"] = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "broken", CreationTimestamp: metav1.NewTime(began)}}
	*now = began.Add(keep)
	do(t, m, "fresh", true)
	for step, want := range []struct {
		at        time.Time
		forgotten int
		left      []string
	}{
		{began.Add(keep), 0, []string{"broken", Name("changed meanwhile"), Name("fresh"), Name("given up"), Name("gone meanwhile"), Name("old")}},
		{began.Add(keep + time.Second), 3, []string{Name("changed meanwhile"), Name("fresh")}},
	} {
		forgotten, err := Forget(t.Context(), late{on, Name("changed meanwhile"), Name("gone meanwhile")}, keep, want.at)
		if err != nil || forgotten != want.forgotten {
			t.Errorf("step %d: forgot %d, %v", step, forgotten, err)
		}
		slices.Sort(want.left)
		if diff := cmp.Diff(want.left, slices.Sorted(maps.Keys(on.held))); diff != "" {
			t.Errorf("step %d: %s", step, diff)
		}
	}
	on.away = true
	if _, err := Forget(t.Context(), on, keep, *now); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("while the cluster is away: %v", err)
	}
}

// slight sees what is held of the Leases that are to be deleted.
type slight struct {
	*leases
	held []*coordinationv1.Lease
}

func (s *slight) DeleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	s.held = append(s.held, lease)
	return s.leases.DeleteLease(ctx, lease)
}

// Of a hundred thousand Leases little is held at once.
func TestLittleIsHeldOfWhatIsForgotten(t *testing.T) {
	m, on, now := memory()
	do(t, m, "old", true)
	for _, lease := range on.held {
		lease.UID = "u"
		lease.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "runhook"}}
	}
	seen := &slight{leases: on}
	if forgotten, err := Forget(t.Context(), seen, time.Hour, now.Add(2*time.Hour)); err != nil || forgotten != 1 {
		t.Fatalf("forgot %d, %v", forgotten, err)
	}
	want := []*coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Name: Name("old"), UID: "u", ResourceVersion: seen.held[0].ResourceVersion}}}
	if diff := cmp.Diff(want, seen.held); diff != "" || seen.held[0].ResourceVersion == "" {
		t.Error(diff)
	}
}

func TestWhoActsIsNotForgotten(t *testing.T) {
	m, on, now := memory()
	acted, err := m.Do(t.Context(), "a", func() bool {
		forgotten, err := Forget(t.Context(), on, time.Second, now.Add(limits.OncePending))
		return forgotten == 0 && err == nil && len(on.held) == 1
	})
	if !acted || err != nil || do(t, m, "a", true) {
		t.Errorf("%t %v, and once more", acted, err)
	}
}
