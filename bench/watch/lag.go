package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// arrivals notes when the CloudEvent of each run came, as a sink.
type arrivals struct {
	url    string
	server *http.Server
	times
}

// times are moments by a run's name.
type times struct {
	lock sync.Mutex
	of   map[string]time.Time
}

// note keeps the first moment.
func (t *times) note(run string) {
	now := time.Now()
	t.lock.Lock()
	defer t.lock.Unlock()
	if _, known := t.of[run]; !known {
		t.of[run] = now
	}
}

// all gives the moments so far.
func (t *times) all() map[string]time.Time {
	t.lock.Lock()
	defer t.lock.Unlock()
	return maps.Clone(t.of)
}

func listen(n int) (*arrivals, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &arrivals{url: "http://" + listener.Addr().String(), times: times{of: make(map[string]time.Time, n)}}
	a.server = &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { a.note(r.Header.Get("ce-subject")) })}
	go func() { _ = a.server.Serve(listener) }() // until close
	return a, nil
}

func (a *arrivals) close() { _ = a.server.Close() }

// change lets runs end at the rate, and gives the time from the API server's
// event, as a bare watch of metadata gets it, to the CloudEvent.
func (s *server) change(ctx context.Context, n size, arrived *arrivals) ([]time.Duration, error) {
	seen, stop, err := s.follow(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	from, err := read()
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(time.Second / time.Duration(n.rate))
	defer ticker.Stop()
	for i := range n.changes {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		if err := s.finish(ctx, from.ended, changingName(i)); err != nil {
			return nil, err
		}
	}
	var lags []time.Duration
	err = eventually(ctx, func() error {
		sent, got := seen.all(), arrived.all()
		if len(sent) < n.changes || len(got) < n.changes {
			return fmt.Errorf("of %d changes the API server told %d, the watch %d", n.changes, len(sent), len(got))
		}
		for run, at := range sent {
			lags = append(lags, got[run].Sub(at))
		}
		return nil
	})
	return lags, err
}

// follow notes the API server's events about the runs that change.
func (s *server) follow(ctx context.Context) (seen *times, stop func(), err error) {
	client, err := metadata.NewForConfig(s.config)
	if err != nil {
		return nil, nil, err
	}
	workflows := client.Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}).Namespace(namespace)
	now, err := workflows.List(ctx, metav1.ListOptions{LabelSelector: changing, Limit: 1})
	if err != nil {
		return nil, nil, err
	}
	stream, err := workflows.Watch(ctx, metav1.ListOptions{LabelSelector: changing, ResourceVersion: now.ResourceVersion})
	if err != nil {
		return nil, nil, err
	}
	seen = &times{of: map[string]time.Time{}}
	go func() {
		for e := range stream.ResultChan() {
			if object, ok := e.Object.(*metav1.PartialObjectMetadata); ok && e.Type == watch.Modified {
				seen.note(object.Name)
			}
		}
	}()
	return seen, stream.Stop, nil
}

// finish writes a run's end as Argo's controller does.
func (s *server) finish(ctx context.Context, recorded []byte, run string) error {
	var ended struct {
		Status map[string]any `json:"status"`
	}
	if err := json.Unmarshal(bytes.ReplaceAll(recorded, []byte(fixtureName), []byte(run)), &ended); err != nil {
		return err
	}
	ended.Status["finishedAt"] = time.Now().UTC().Format(time.RFC3339)
	patch, err := json.Marshal(ended)
	if err != nil {
		return err
	}
	return s.kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(workflowsPath, run).
		SetHeader("Accept", metadataOnly).Body(patch).Do(ctx).Error()
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
