package watch

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/image"
)

// handle says what each change leads to. A pod's proof is noted in its handler:
// the cache may hold another pod of the same name when its turn comes.
func (w *Watch) handle() error {
	_, err := w.sources.workflows.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, first bool) {
			if added, ok := object.(*workflow); ok {
				if first {
					w.tracker.inherit(added.Name)
				}
				w.workflowChanged(added)
			}
		},
		UpdateFunc: func(_, object any) {
			if changed, ok := object.(*workflow); ok {
				w.workflowChanged(changed)
			}
		},
		DeleteFunc: func(object any) {
			if deleted, ok := last(object).(*workflow); ok {
				w.tracker.lose(deleted)
				w.changed(deleted.Name)
			}
		},
	})
	if err != nil {
		return err
	}
	seen := func(object any) {
		if pod, ok := last(object).(*corev1.Pod); ok {
			w.proofs.see(pod)
			w.changed(pod.Labels[cause.WorkflowLabel])
		}
	}
	_, err = w.sources.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) }, DeleteFunc: seen,
	})
	if err != nil {
		return err
	}
	if err := w.handleBuilds(); err != nil {
		return err
	}
	_, err = w.sources.queues.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		if queue, ok := object.(*metav1.PartialObjectMetadata); ok {
			w.Metrics.AddQueue(queue.Name)
		}
	}})
	return err
}

func (w *Watch) handleBuilds() error {
	_, err := w.sources.jobs.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, first bool) {
			if added, ok := object.(*batchv1.Job); ok {
				if first {
					w.builds.inherit(added)
				}
				w.jobs.add(added.Name)
			}
		},
		UpdateFunc: func(_, object any) {
			if changed, ok := object.(*batchv1.Job); ok {
				w.jobs.add(changed.Name)
			}
		},
		DeleteFunc: func(object any) {
			if deleted, ok := last(object).(*batchv1.Job); ok {
				w.builds.lose(deleted)
			}
		},
	})
	if err != nil {
		return err
	}
	seen := func(object any) {
		if pod, ok := last(object).(*corev1.Pod); ok {
			w.jobs.add(pod.Labels[image.BuildLabel])
		}
	}
	_, err = w.sources.buildPods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) }, DeleteFunc: seen,
	})
	return err
}

// last is the last known state of an object that may have been deleted unseen.
func last(object any) any {
	if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return unseen.Obj
	}
	return object
}

func (w *Watch) workflowChanged(to *workflow) {
	w.changed(to.Name)
	if run := helpedRun(to); run != "" {
		w.helpers.add(run)
	}
}

func (w *Watch) changed(name string) {
	w.lock.Lock()
	if _, waits := w.arrived[name]; !waits {
		w.arrived[name] = time.Now()
	}
	w.lock.Unlock()
	w.runs.add(name)
}
