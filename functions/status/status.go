// Package status says where a run stands: from its Workflow, its helpers and
// the pods that are still there. A caller may wait until that changes.
package status

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/await"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/status"
)

// Cluster is what status reads and watches.
type Cluster interface {
	lookup.Cluster
	Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error)
	WatchRun(ctx context.Context, run string, workflowLabels, podLabels map[string]string) (<-chan struct{}, error)
}

// Settings are the parts of the config that status follows.
type Settings struct {
	Foreign owner.Foreign
	// Time is how long it may take beside the waiting.
	Time time.Duration
}

// Request names the run.
type Request struct {
	Run string `json:"run"`
	// Wait is how long the answer may wait for a change, such as 30s.
	Wait string `json:"wait,omitempty"`
	// Since is the resourceVersion that the caller knows; empty: the present one.
	Since string `json:"since,omitempty"`
}

// New makes the function.
func New(cluster Cluster, settings Settings) function.Function {
	on := source{cluster, lookup.Finder{Cluster: cluster, Foreign: settings.Foreign}}
	r := reader{on, await.NewRoom(on, await.Pace{Poll: limits.WaitPoll, Gap: limits.WaitGap}), settings.Time}
	return function.Function{
		Name:    "status",
		Summary: "says where a run and each of its tasks stand, and why attempts failed or were interrupted",
		Access: []function.Access{
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list", "watch"}},
			{Resource: "pods", Verbs: []string{"list", "watch"}},
		},
		Reads:    true,
		Timeout:  settings.Time + limits.WaitTime,
		Request:  Request{},
		Response: status.Status{},
		Check: function.Checked(func(request Request) error {
			_, err := request.check()
			return err
		}),
		Handle: function.Typed(r.handle),
	}
}

// check gives how long the answer may wait; 0: not at all.
func (r Request) check() (time.Duration, error) {
	var mistakes fault.List
	lookup.CheckName(r.Run, &mistakes)
	wait, err := time.ParseDuration(r.Wait)
	switch {
	case r.Wait == "":
	case err != nil:
		mistakes.Add("wait", "not a duration such as 30s")
	case wait < 0 || wait > limits.WaitTime:
		mistakes.Add("wait", "must be from 0s to %s: call again after it", limits.WaitTime)
	}
	if r.Since != "" && r.Wait == "" {
		mistakes.Add("since", "needs `wait` beside it: how long to wait for a change")
	}
	return wait, mistakes.Err(fault.Invalid, "the request is not valid")
}

// reader answers the calls.
type reader struct {
	source source
	room   *await.Room[watched, snapshot]
	time   time.Duration
}

func (r reader) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	wait, err := request.check()
	if err != nil {
		return function.Response{}, err
	}
	now, err := r.present(ctx, call.Caller, request.Run)
	if err != nil {
		return function.Response{}, err
	}
	if wait > 0 && (request.Since == "" || request.Since == now.status.ResourceVersion) {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if now, err = r.changed(ctx, call, now); err != nil {
			return function.Response{}, err
		}
	}
	return function.Response{Status: http.StatusOK, Body: now.status}, nil
}

func (r reader) present(ctx context.Context, caller function.Caller, name string) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, r.time)
	defer cancel()
	run, err := r.source.find.Run(ctx, caller, name)
	if err != nil {
		return snapshot{}, err
	}
	return r.source.around(ctx, run)
}

// changed waits for another state than the one that was read last. What was
// not readable at the end is told: the caller would take it for unchanged.
func (r reader) changed(ctx context.Context, call function.Call, now snapshot) (snapshot, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-call.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	latest := now
	var failed error
	r.room.Until(ctx, watchedOf(now.run), func(seen snapshot, err error) bool {
		if failed = err; err != nil {
			return fault.KindOf(err) != fault.Unavailable
		}
		// The name may have gone to somebody else's run.
		if failed = r.source.find.MaySee(call.Caller, seen.run); failed != nil {
			return true
		}
		latest = seen
		return seen.status.ResourceVersion != now.status.ResourceVersion
	})
	return latest, failed
}
