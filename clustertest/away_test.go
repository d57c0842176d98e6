//go:build cluster

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/limits"
)

// callAway is a call of a function while the API server is away.
type callAway struct {
	token, function string
	request         map[string]any
	limit           time.Duration
}

// callsAway are calls of every function that needs the cluster. They succeed
// in this order when it is back.
func (s *site) callsAway(run, submitted, node string) []callAway {
	of := map[string]any{"run": run}
	reservation := map[string]any{"node": node, "run": run}
	return []callAway{
		{"planner-token", "submit", map[string]any{"id": submitted, "queue": "research", "tasks": []any{task("a", "true")}}, limits.FunctionTime},
		{"sensor-token", "push", map[string]any{"hook": "acme", "event": "push", "payload": json.RawMessage(hooktest.NewGitHubPush("away").Body())}, limits.FunctionTime},
		{"demo-token", "status", of, limits.FunctionTime},
		{"demo-token", "extra", map[string]any{"run": run, "task": "fit", "workers": 1}, limits.FunctionTime},
		{"planner-token", "logs", map[string]any{"run": run, "task": "fit"}, limits.FunctionTime},
		{"planner-token", "nodes", map[string]any{}, limits.ListTime},
		{"planner-token", "placements", map[string]any{}, limits.ListTime},
		{"planner-token", "reserve", reservation, limits.FunctionTime},
		{"planner-token", "unreserve", reservation, limits.FunctionTime},
		{"demo-token", "build-image", dockerfile(s.T, "COPY said.txt /\n"), limits.FunctionTime},
		{"demo-token", "stop", of, limits.FunctionTime},
		{"demo-token", "cancel", of, limits.FunctionTime},
	}
}

func TestFunctionsSay503WhileTheClusterIsAway(t *testing.T) {
	const node = "node3"
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			s := newSite(t)
			s.alone("apiserver")
			run := s.submit(map[string]any{"id": unique(t), "queue": "research", "priority": "normal", "tasks": []any{
				task("fit", hold, map[string]any{"split": map[string]any{"workers": 1, "extra": 1}}),
			}})
			s.runningPod(run, "fit")
			submitted := unique(t)
			s.deleteAtEnd(submitted)
			calls := s.callsAway(run, submitted, node)
			var requests []*http.Request
			for _, call := range calls {
				requests = append(requests, s.request(call.token, call.function, call.request))
			}
			image := s.request("demo-token", "has-image", map[string]any{"ref": busybox})
			apiserver := s.process("apiserver")

			must(s, outage.stop(apiserver))
			var all sync.WaitGroup // nothing is fatal until it is healed
			for i, call := range calls {
				all.Go(func() { s.wantAway(call, requests[i]) })
			}
			// The registry is not the cluster.
			if got, _ := s.answersIn(image); got.code != http.StatusOK {
				t.Errorf("has-image: %d %s", got.code, got.body)
			}
			all.Wait()
			outage.heal(s, apiserver)

			s.wantNoReservation(node, run)
			for _, call := range calls {
				s.wantBack(call)
			}
			s.wantNoReservation(node, run)
			s.waitPhase(run, "Failed")
			s.waitPhase(submitted, "Succeeded")
			s.wantNoOrphans()
		})
	}
}

// wantAway sees that a call is answered with 503, within the function's limit.
func (s *site) wantAway(call callAway, request *http.Request) {
	got, took := s.answersIn(request)
	if got.code != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		s.Errorf("%s answered %d, Retry-After %q: %s", call.function, got.code, got.header.Get("Retry-After"), got.body)
	}
	if took > call.limit+slack {
		s.Errorf("%s answered after %s, the limit is %s", call.function, took, call.limit)
	}
}

// wantBack makes the same call until it succeeds.
func (s *site) wantBack(call callAway) {
	s.Helper()
	var got answer
	s.eventually("the same call of "+call.function+" succeeds", func() error {
		if got = s.call(call.token, call.function, call.request); got.code >= 300 {
			return fmt.Errorf("%d %s", got.code, got.body)
		}
		return nil
	})
	switch call.function {
	case "push":
		s.deleteAtEnd(s.decisionOf(got).Run)
	case "build-image":
		s.deleteBuildAtEnd(s.ended(call.request).Build)
	}
}

// wantNoReservation sees that a node has neither half of a run's reservation.
func (s *site) wantNoReservation(name, run string) {
	s.Helper()
	s.eventually("node "+name+" can be read", func() error {
		node, err := s.kube.CoreV1().Nodes().Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node.Labels["simrun/reserved"] == run {
			s.Errorf("node %s has the label of a reservation", name)
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == "simrun/reserved" && taint.Value == run {
				s.Errorf("node %s has the taint of a reservation", name)
			}
		}
		return nil
	})
}

// wantNoOrphans sees that the files of every build belong to a Job, which takes
// them with it.
func (s *site) wantNoOrphans() {
	s.Helper()
	ctx := context.Background()
	files, err := s.kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: "runhook/build"})
	must(s, err)
	for _, file := range files.Items {
		job, err := s.kube.BatchV1().Jobs(namespace).Get(ctx, file.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && file.DeletionTimestamp != nil {
			continue
		}
		if err != nil || file.OwnerReferences[0].UID != job.UID {
			s.Errorf("the files %s belong to no build: %v", file.Name, err)
		}
	}
}
