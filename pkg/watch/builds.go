package watch

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/stream"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/owner"
)

// BuildCache gives what the cluster holds of builds.
type BuildCache interface {
	Job(name string) *batchv1.Job // nil: there is none
	Jobs() []*batchv1.Job
	BuildPods(name string) []corev1.Pod
}

// builds turns changes of the Jobs of build-image into events, as the tracker
// does with Workflows. The build of a run is a task of its Workflow.
type builds struct {
	cache BuildCache
	outlets
	metrics *metrics.Watch
	source  string
	now     func() time.Time
	// again asks to look at a Job.
	again func(name string)

	lock  sync.Mutex
	leads bool
	// told are the ids that each Job's state gave last, by its UID.
	told map[string]map[string]bool
	// inherited are Jobs that were there before the watch, resend those that a
	// new leader sends again.
	inherited, resend map[string]bool
}

// lead begins or ends a term.
func (b *builds) lead(leads bool) {
	b.lock.Lock()
	b.leads = leads
	b.resend = map[string]bool{}
	var names []string
	if leads {
		for _, job := range b.cache.Jobs() {
			names = append(names, job.Name)
			b.resend[string(job.UID)] = true
		}
	}
	b.lock.Unlock()
	for _, name := range names {
		b.again(name)
	}
}

// inherit notes a Job of the first list: what it implies is no news.
func (b *builds) inherit(job *batchv1.Job) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.inherited == nil {
		b.inherited = map[string]bool{}
	}
	b.inherited[string(job.UID)] = true
}

// lose forgets a Job that is no more. What it would have come to nobody knows.
func (b *builds) lose(job *batchv1.Job) {
	b.lock.Lock()
	defer b.lock.Unlock()
	delete(b.told, string(job.UID))
	delete(b.inherited, string(job.UID))
	delete(b.resend, string(job.UID))
}

// look sends what is new in the state of a Job.
func (b *builds) look(_ context.Context, name string) error {
	job := b.cache.Job(name)
	if job == nil {
		return nil
	}
	events := b.events(job)
	uid := string(job.UID)
	b.lock.Lock()
	before, inherited, resend, leads := b.told[uid], b.inherited[uid], b.resend[uid], b.leads
	delete(b.inherited, uid)
	delete(b.resend, uid)
	now := make(map[string]bool, len(events))
	var fresh []event.Event
	for _, e := range events {
		now[e.ID()] = true
		if !before[e.ID()] && (before != nil || !inherited) {
			fresh = append(fresh, e)
		}
	}
	if b.told == nil {
		b.told = map[string]map[string]bool{}
	}
	b.told[uid] = now
	b.lock.Unlock()

	b.stream.Publish(fresh, ownerOf(job))
	if !leads {
		return nil
	}
	for _, e := range fresh {
		b.metrics.Built(e.Build.Phase, took(*e.Build))
	}
	if resend {
		fresh = recent(events, ended(events), b.now())
	}
	b.send(fresh)
	return nil
}

// events are those of a Job with the pods that are its own: another of its name
// may have been before it.
func (b *builds) events(job *batchv1.Job) []event.Event {
	var own []corev1.Pod
	for _, pod := range b.cache.BuildPods(job.Name) {
		if metav1.IsControlledBy(&pod, job) {
			own = append(own, pod)
		}
	}
	return event.OfBuild(job, own, b.source)
}

// present gives the events of all builds but those that ended long ago.
func (b *builds) present() []stream.Item {
	var items []stream.Item
	for _, job := range b.cache.Jobs() {
		events := b.events(job)
		if last := events[len(events)-1]; ended(events) && last.Happened().Before(b.now().Add(-limits.EventReplay)) {
			continue
		}
		for _, e := range events {
			items = append(items, stream.Item{Event: e, Run: ownerOf(job)})
		}
	}
	return items
}

func ended(events []event.Event) bool { return events[len(events)-1].Build.Phase.Ended() }

// took is how long a build took: none of the time that it has waited for.
func took(b event.Build) time.Duration {
	if b.Started == nil || b.Ended == nil {
		return 0
	}
	return b.Ended.Sub(*b.Started)
}

// ownerOf says who may see a build: who asked for it, as with a run.
func ownerOf(job *batchv1.Job) owner.Run {
	return owner.Run{Labels: map[string]string{owner.RunLabel: job.Labels[image.BuildLabel]}, Annotations: job.Annotations}
}
