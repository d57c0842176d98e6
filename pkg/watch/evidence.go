package watch

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/status"
)

// proofs holds what pods have shown and no Workflow holds yet: for the moment
// between a pod's last sign and the write, and for as long as the API server is
// away after it.
type proofs struct {
	lock sync.Mutex
	of   map[string]*proof // by the Workflow's UID
}

// proof is what is noted of one Workflow.
type proof struct {
	*cause.Evidence
	workflow string // its name
	since    time.Time
}

// see notes what a pod shows.
func (p *proofs) see(pod *corev1.Pod) {
	uid := evidence.WorkflowUID(pod)
	entry, worth := cause.Observe(pod)
	if uid == "" || !worth {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.noted(uid, pod.Labels[cause.WorkflowLabel]).Add(entry)
}

func (p *proofs) noted(uid, workflow string) *proof {
	if p.of == nil {
		p.of = map[string]*proof{}
	}
	if p.of[uid] == nil {
		p.of[uid] = &proof{&cause.Evidence{}, workflow, time.Now()}
	}
	return p.of[uid]
}

// take gives what is noted of a Workflow, and forgets it.
func (p *proofs) take(uid string) *cause.Evidence {
	p.lock.Lock()
	defer p.lock.Unlock()
	taken := p.of[uid]
	delete(p.of, uid)
	if taken == nil {
		return nil
	}
	return taken.Evidence
}

// giveBack notes again what could not be written.
func (p *proofs) giveBack(uid, workflow string, taken *cause.Evidence) {
	if taken == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.noted(uid, workflow).Merge(taken)
}

// forget gives up what was noted of Workflows of a name but one, if nobody has
// taken it for so long: they are no more, or concern nobody. It reports whether
// younger is left; its Workflow may still come.
func (p *proofs) forget(workflow, but string, after time.Duration) (left bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for uid, proof := range p.of {
		switch {
		case proof.workflow != workflow || uid == but:
		case time.Since(proof.since) > after:
			delete(p.of, uid)
		default:
			left = true
		}
	}
	return left
}

// keeper writes evidence.
type keeper struct {
	on      evidence.Annotator
	dropped func(int)
}

// keep joins what was seen to the evidence on a Workflow and gives the Workflow
// with it. The cache learns of it later.
func (k keeper) keep(ctx context.Context, w *status.Workflow, seen *cause.Evidence, pods []corev1.Pod) (*status.Workflow, error) {
	kept, err := evidence.Keep(ctx, k.on, w.Metadata, func(known *cause.Evidence) (bool, error) {
		return join(known, seen, pods), nil
	})
	if err != nil {
		return nil, err
	}
	k.dropped(kept.Dropped)
	return kept.On(w), nil
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
