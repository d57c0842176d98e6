// Package evidence writes what was seen of a run's pods on its Workflow, where
// whoever asks why an attempt ended reads it. The watch and the function record
// write by the same rule, any number of them at once.
package evidence

import (
	"context"
	"maps"
	"time"

	"github.com/cenkalti/backoff/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
)

// Annotator writes on Workflows.
type Annotator interface {
	// WorkflowMetadata gives a Workflow's annotations and version as they are now.
	WorkflowMetadata(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error)
	// Annotate sets an annotation of a Workflow under its version: a Conflict
	// fault when somebody else wrote in between.
	Annotate(ctx context.Context, name, resourceVersion, key, value string) error
}

// Join adds what was seen to what is known and reports whether any of it is
// news. It is asked again when somebody else wrote in between; an error ends it.
type Join func(known *cause.Evidence) (news bool, err error)

// Kept is what stands on a Workflow in the end.
type Kept struct {
	Text string
	// Dropped is how many entries this had no more room for.
	Dropped int
}

// Keep joins what was seen to the evidence on a Workflow, which is given as it
// was read last. Two may do this at once: what the other has written already is
// no news, and what was written in between is read anew.
func Keep(ctx context.Context, on Annotator, workflow status.Metadata, join Join) (Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.EvidenceTime)
	defer cancel()
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = 10*time.Millisecond, 500*time.Millisecond
	for {
		// Text that somebody broke is no evidence any more; it is written over.
		known, err := cause.Decode(workflow.Annotations[cause.Annotation])
		if err != nil {
			known = &cause.Evidence{}
		}
		before := known.Dropped()
		news, err := join(known)
		if err != nil || !news {
			return Kept{Text: workflow.Annotations[cause.Annotation]}, err
		}
		text, err := known.Encode()
		if err != nil {
			return Kept{}, err
		}
		err = on.Annotate(ctx, workflow.Name, workflow.ResourceVersion, cause.Annotation, text)
		if err == nil {
			return Kept{text, known.Dropped() - before}, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Kept{}, err
		}
		if err := pause(ctx, waits.NextBackOff()); err != nil {
			return Kept{}, fault.Wrap(fault.Unavailable, err, "others wrote on workflow %s all the time", workflow.Name)
		}
		now, err := on.WorkflowMetadata(ctx, workflow.Name)
		if err != nil {
			return Kept{}, err
		}
		if string(now.UID) != workflow.UID {
			return Kept{}, fault.New(fault.NotFound, "workflow %s was replaced by another of its name", workflow.Name)
		}
		workflow.Annotations, workflow.ResourceVersion = now.Annotations, now.ResourceVersion
	}
}

// On gives a Workflow with its evidence as it was kept. The Workflow itself,
// which others may read, stays as it is.
func (k Kept) On(workflow *status.Workflow) *status.Workflow {
	if k.Text == workflow.Metadata.Annotations[cause.Annotation] {
		return workflow
	}
	kept := *workflow
	kept.Metadata.Annotations = maps.Clone(kept.Metadata.Annotations)
	if kept.Metadata.Annotations == nil {
		kept.Metadata.Annotations = map[string]string{}
	}
	kept.Metadata.Annotations[cause.Annotation] = k.Text
	return &kept
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
