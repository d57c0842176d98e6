package cluster

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// WatchRun signals whenever a Workflow or a pod of a run changes, with one
// watch of each kind. Workflows are selected by the labels that a run has in
// common with its helpers; nil: by the run's name. Only metadata is sent, which
// changes with everything else. The channel is closed when a watch breaks;
// signals that nobody has taken are one.
func (c *Cluster) WatchRun(ctx context.Context, run string, workflowLabels, podLabels map[string]string) (<-chan struct{}, error) {
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", run).String()}
	if workflowLabels != nil {
		options = metav1.ListOptions{LabelSelector: labels.Set(workflowLabels).String()}
	}
	ctx, cancel := context.WithCancel(ctx)
	workflows, err := c.watches.Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}).
		Namespace(c.namespace).Watch(ctx, options)
	if err != nil {
		cancel()
		return nil, faultOf(err, "a watch of run "+run)
	}
	pods, err := c.watches.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).
		Namespace(c.namespace).Watch(ctx, metav1.ListOptions{LabelSelector: labels.Set(podLabels).String()})
	if err != nil {
		cancel()
		workflows.Stop()
		return nil, faultOf(err, "a watch of the pods of run "+run)
	}
	signals := make(chan struct{}, 1)
	var both sync.WaitGroup
	for _, w := range []watch.Interface{workflows, pods} {
		both.Go(func() {
			signal(ctx, w, signals)
			cancel() // one alone is none
		})
	}
	go func() {
		defer cancel()
		both.Wait()
		close(signals)
	}()
	return signals, nil
}

// signal passes events on until the watch ends, or says that it has expired.
func signal(ctx context.Context, from watch.Interface, to chan<- struct{}) {
	defer from.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, stands := <-from.ResultChan():
			if !stands || event.Type == watch.Error {
				return
			}
		}
		select {
		case to <- struct{}{}:
		default:
		}
	}
}
