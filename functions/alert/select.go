package alert

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what is read of the runs.
type Cluster interface {
	Workflow(ctx context.Context, name string) ([]byte, error)
	EachWorkflow(ctx context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error
}

// SelectAccess is what selecting needs of the cluster.
var SelectAccess = function.Access{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list"}}

// Selector finds the runs that an alert is about.
type Selector struct{ Cluster Cluster }

// Select gives the runs in a phase and a queue, longest in that phase first.
// Workflows of others have no place in it: no route may act on them.
func (s Selector) Select(ctx context.Context, selection hook.Selection) ([]map[string]any, error) {
	var names []string
	wanted := status.Phase(selection.Phase)
	err := s.Cluster.EachWorkflow(ctx, owner.RunLabel+",!"+argo.ExtraOfLabel, func(w *metav1.PartialObjectMetadata) {
		if (w.Labels[argo.CompletedLabel] == "true") == wanted.Ended() {
			names = append(names, w.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	matches, err := s.read(ctx, names)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(matches, func(m match) bool {
		return m.status.Run == "" || m.status.Phase != wanted || selection.Queue != "" && m.queue != selection.Queue
	})
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(a.since().Compare(b.since()), cmp.Compare(a.status.Run, b.status.Run))
	})
	runs := make([]map[string]any, 0, min(len(found), selection.Limit))
	for _, m := range found[:cap(runs)] {
		run, err := m.asJSON()
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// read reads runs side by side: a hook has no time for hundreds one by one. What
// has gone meanwhile or cannot be read is left out: the alert is about the
// others, too.
func (s Selector) read(ctx context.Context, names []string) ([]match, error) {
	matches := make([]match, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limits.WorkflowsAtOnce)
	for i, name := range names {
		group.Go(func() (err error) {
			matches[i], err = s.match(ctx, name)
			if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Conflict {
				return nil
			}
			return err
		})
	}
	return matches, group.Wait()
}

// match is a run with what its status does not say.
type match struct {
	status          status.Status
	created         time.Time
	queue, priority string
}

func (s Selector) match(ctx context.Context, name string) (match, error) {
	raw, err := s.Cluster.Workflow(ctx, name)
	if err != nil {
		return match{}, err
	}
	workflow, err := status.Decode(raw)
	if err != nil {
		return match{}, fault.Wrap(fault.Conflict, err, "the Workflow of run %s cannot be read: %v", name, err)
	}
	var pods struct {
		Spec struct {
			PodMetadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"podMetadata"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &pods); err != nil {
		return match{}, fault.Wrap(fault.Conflict, err, "the Workflow of run %s cannot be read: %v", name, err)
	}
	return match{
		status: status.Of(workflow, nil, nil), created: workflow.Metadata.CreationTimestamp,
		queue: pods.Spec.PodMetadata.Labels[argo.QueueLabel], priority: workflow.Metadata.Annotations[argo.PriorityAnnotation],
	}, nil
}

// since is when the run came into its phase: it ended, lost its last attempt,
// or started then.
func (m match) since() time.Time {
	if m.status.Ended != nil {
		return *m.status.Ended
	}
	since := m.created
	if m.status.Started != nil {
		since = *m.status.Started
	}
	if m.status.Phase != status.Preempted && m.status.Phase != status.Retrying {
		return since
	}
	for _, attempts := range m.status.Attempts {
		for _, a := range attempts {
			if a.Ended != nil && a.Ended.After(since) {
				since = *a.Ended
			}
		}
	}
	return since
}

// asJSON is what CEL sees as `run`.
func (m match) asJSON() (map[string]any, error) {
	encoded, err := json.Marshal(m.status)
	if err != nil {
		return nil, err
	}
	run := map[string]any{}
	if err := json.Unmarshal(encoded, &run); err != nil {
		return nil, err
	}
	run["queue"], run["priority"] = m.queue, m.priority
	return run, nil
}
