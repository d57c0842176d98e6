package watch

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Annotator writes the evidence on Workflows.
type Annotator interface {
	// WorkflowMetadata gives a Workflow's annotations and version as they are now.
	WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error)
	// Annotate sets an annotation of a Workflow under its version: a Conflict
	// fault when somebody else wrote in between.
	Annotate(ctx context.Context, name, resourceVersion, key, value string) error
}

// proofs holds what pods have shown and no Workflow holds yet: for the moment
// between a pod's last sign and the write, and for as long as the API server is
// away after it.
type proofs struct {
	lock sync.Mutex
	of   map[string]*cause.Evidence // by the Workflow's UID
}

// see notes what a pod shows.
func (p *proofs) see(pod *corev1.Pod) {
	uid := workflowUID(pod)
	entry, worth := cause.Observe(pod)
	if uid == "" || !worth {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.of == nil {
		p.of = map[string]*cause.Evidence{}
	}
	if p.of[uid] == nil {
		p.of[uid] = &cause.Evidence{}
	}
	p.of[uid].Add(entry)
}

// take gives what is noted of a Workflow, and forgets it.
func (p *proofs) take(uid string) *cause.Evidence {
	p.lock.Lock()
	defer p.lock.Unlock()
	taken := p.of[uid]
	delete(p.of, uid)
	return taken
}

// giveBack notes again what could not be written.
func (p *proofs) giveBack(uid string, evidence *cause.Evidence) {
	if evidence == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.of == nil {
		p.of = map[string]*cause.Evidence{}
	}
	if p.of[uid] == nil {
		p.of[uid] = evidence
		return
	}
	p.of[uid].Merge(evidence)
}

// workflowUID is the Workflow that a pod belongs to: its name alone may have
// been another's before.
func workflowUID(pod *corev1.Pod) string {
	for _, o := range pod.OwnerReferences {
		if o.Kind == "Workflow" {
			return string(o.UID)
		}
	}
	return ""
}

// keeper writes evidence.
type keeper struct {
	on      Annotator
	dropped func(int)
}

// keep joins what was seen to the evidence on a Workflow and gives the
// annotation as it is then. Two replicas may do this at once: what the other
// has written already is no news, and what was written in between is read anew.
func (k keeper) keep(ctx context.Context, w *workflow, seen *cause.Evidence, pods []corev1.Pod) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.EvidenceTime)
	defer cancel()
	annotations, version := w.state().Metadata.Annotations, w.ResourceVersion
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = 10*time.Millisecond, 500*time.Millisecond
	for {
		// Text that somebody broke is no evidence any more; it is written over.
		known, err := cause.Decode(annotations[cause.Annotation])
		if err != nil {
			known = &cause.Evidence{}
		}
		before := known.Dropped()
		if !join(known, seen, pods) {
			return annotations[cause.Annotation], nil
		}
		text, err := known.Encode()
		if err != nil {
			return "", err
		}
		err = k.on.Annotate(ctx, w.Name, version, cause.Annotation, text)
		if err == nil {
			k.dropped(known.Dropped() - before)
			return text, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return "", err
		}
		if err := pause(ctx, waits.NextBackOff()); err != nil {
			return "", err
		}
		now, err := k.on.WorkflowMetadata(ctx, w.Name)
		if err != nil {
			return "", err
		}
		if now.UID != w.UID {
			return "", fault.New(fault.NotFound, "workflow %s was replaced by another of its name", w.Name)
		}
		annotations, version = now.Annotations, now.ResourceVersion
	}
}

// join adds what was seen, then the pods that are still there: a healthy one is
// kept where it has replaced another.
func join(known, seen *cause.Evidence, pods []corev1.Pod) bool {
	news := seen != nil && known.Merge(seen)
	for i := range pods {
		news = known.Observe(&pods[i]) || news
	}
	return news
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// mergePatch is the change of one annotation under a version.
func mergePatch(resourceVersion, key, value string) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": resourceVersion, "annotations": map[string]string{key: value},
	}})
}
