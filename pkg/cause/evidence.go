package cause

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/limits"
)

// Annotation holds the evidence of a run on its Workflow.
const Annotation = "runhook/evidence"

// Evidence is what was seen of a Workflow's pods, at most one entry per UID.
// The zero value is empty and ready for use.
type Evidence struct {
	entries map[string]Entry
	dropped dropped
}

// dropped says what was left out to keep within the limits: everything up to
// a pod, in the order of age. Remembering that one, instead of the count
// alone, keeps Merge independent of the order.
type dropped struct {
	Count   int       `json:"count"`
	Created time.Time `json:"created"`
	UID     string    `json:"uid"`
}

func (d dropped) covers(e Entry) bool {
	return d.Count > 0 && compareEntries(e, Entry{Created: d.Created, UID: d.UID}) <= 0
}

// Dropped is how many entries were left out to keep within the limits.
func (e *Evidence) Dropped() int { return e.dropped.Count }

// Entries gives the entries, oldest pod first.
func (e *Evidence) Entries() []Entry {
	return slices.SortedFunc(maps.Values(e.entries), compareEntries)
}

// Observe notes what a pod shows and reports whether that is news. Beside what
// is worth keeping by itself it keeps the pod that replaced a known one: that
// is how a silent restart shows.
func (e *Evidence) Observe(pod *corev1.Pod) bool { return e.ObserveAs("", pod) }

// ObserveAs notes what a pod shows to another witness than the watch.
func (e *Evidence) ObserveAs(source string, pod *corev1.Pod) bool {
	entry, worth := Observe(pod)
	entry.Source = source
	if !worth && !e.succeeds(entry) {
		return false
	}
	return e.Add(entry)
}

// succeeds reports whether an entry's Argo node is known, by this pod or another.
func (e *Evidence) succeeds(entry Entry) bool {
	for _, known := range e.entries {
		if known.Node != "" && known.Node == entry.Node {
			return true
		}
	}
	return false
}

// Add joins one entry to what is known of its pod and reports whether that is news.
func (e *Evidence) Add(entry Entry) bool {
	if entry.UID == "" || e.dropped.covers(entry) {
		return false
	}
	known, ok := e.entries[entry.UID]
	joined := entry
	if ok {
		if joined = merge(known, entry); same(joined, known) {
			return false
		}
	}
	if e.entries == nil {
		e.entries = map[string]Entry{}
	}
	e.entries[entry.UID] = joined
	e.keepNewest(limits.EvidenceEntries)
	_, kept := e.entries[entry.UID]
	return kept
}

// Merge joins other evidence and reports whether any of it is news.
func (e *Evidence) Merge(other *Evidence) bool {
	news := false
	if d := other.dropped; d.Count > 0 {
		if e.dropped.Count == 0 || d.covers(Entry{Created: e.dropped.Created, UID: e.dropped.UID}) {
			news = e.dropped != d
			e.dropped.Created, e.dropped.UID = d.Created, d.UID
		}
		e.dropped.Count = max(e.dropped.Count, d.Count)
		maps.DeleteFunc(e.entries, func(_ string, entry Entry) bool { return e.dropped.covers(entry) })
	}
	for _, entry := range other.Entries() {
		news = e.Add(entry) || news
	}
	return news
}

func (e *Evidence) keepNewest(n int) {
	if len(e.entries) <= n {
		return
	}
	for _, entry := range e.Entries()[:len(e.entries)-n] {
		delete(e.entries, entry.UID)
		e.dropped = dropped{Count: e.dropped.Count + 1, Created: entry.Created, UID: entry.UID}
	}
}

func compareEntries(a, b Entry) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.UID, b.UID))
}

func same(a, b Entry) bool {
	mainSame := (a.Main == nil) == (b.Main == nil) && (a.Main == nil || *a.Main == *b.Main)
	conditions := slices.Equal(a.Conditions, b.Conditions)
	a.Main, b.Main, a.Conditions, b.Conditions = nil, nil, nil, nil
	return mainSame && conditions && a.equalRest(b)
}

func (e Entry) equalRest(o Entry) bool {
	return e.UID == o.UID && e.Node == o.Node && e.Pod == o.Pod && e.Host == o.Host && e.Reason == o.Reason &&
		e.Message == o.Message && e.Source == o.Source && e.Created.Equal(o.Created) && e.Deleted.Equal(o.Deleted)
}
