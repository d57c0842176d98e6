//go:build cluster

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/status"
)

// play is a namespace in which the test itself is Argo and Kueue: it writes the
// states of Workflows and the conditions of pods, which never run.
type play struct {
	*site
	namespace string
	workflows dynamic.ResourceInterface

	lock sync.Mutex
	// allowed are the ids that any state implied, received those that came.
	allowed, received map[string]string
}

// TestTheLeaderIsKilledAgainAndAgain lets 200 runs go through 1,000 states, each
// with one attempt that is preempted, while the leader of two watches is killed
// whenever there is one. An API server that goes away meanwhile would take proofs
// with it that nobody could have read.
func TestTheLeaderIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	const runs, atOnce = 200, 25
	p := newPlay(t)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.received[request.Header.Get("Ce-Id")] = request.Header.Get("Ce-Type") + " of " + request.Header.Get("Ce-Subject")
	}))
	t.Cleanup(sink.Close)
	watches := map[int]*watchProcess{}
	start := func() {
		w := p.watch(fmt.Sprintf("sinks: [{name: test, type: http, url: %q}]", sink.URL))
		watches[w.Process.Pid] = w
	}
	// Only one that no proof passes can stand for one that is killed.
	allKeep := func() bool {
		for _, w := range watches {
			if !w.keeps.Load() {
				return false
			}
		}
		return true
	}
	start()
	start()
	p.eventually("a watch leads, and both keep proofs", func() error {
		if p.leaseHolder(p.namespace) == "" || !allKeep() {
			return fmt.Errorf("not yet")
		}
		return nil
	})

	slots, played := make(chan struct{}, atOnce), make(chan error, runs)
	for i := range runs {
		go func() {
			slots <- struct{}{}
			played <- p.preempted(fmt.Sprintf("run-%d", i))
			<-slots
		}()
	}
	kills := 0
	for done := 0; done < runs; {
		select {
		case err := <-played:
			must(p.site, err)
			done++
		case <-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond):
			_, text, _ := strings.Cut(p.leaseHolder(p.namespace), "_")
			if pid, err := strconv.Atoi(text); err == nil && watches[pid] != nil && allKeep() {
				watches[pid].kill()
				delete(watches, pid)
				start()
				kills++
			}
		}
	}
	if kills < 2 {
		t.Errorf("the leader was killed %d times only", kills)
	}
	t.Logf("the leader was killed %d times", kills)
	p.eventually("every event that the end implies has come", p.complete)
	p.stopsInOrder(watches)
	p.lock.Lock()
	defer p.lock.Unlock()
	for id, what := range p.received {
		if p.allowed[id] == "" {
			t.Errorf("%s, which no state implied: %s", what, id)
		}
	}
}

// stopsInOrder ends the leader by SIGTERM: it gives the Lease back, and its exit
// code is 0.
func (p *play) stopsInOrder(watches map[int]*watchProcess) {
	p.Helper()
	var pid int
	p.eventually("one of the watches leads", func() error {
		_, text, _ := strings.Cut(p.leaseHolder(p.namespace), "_")
		pid, _ = strconv.Atoi(text)
		if watches[pid] == nil {
			return fmt.Errorf("%q does", text)
		}
		return nil
	})
	must(p.site, watches[pid].Process.Signal(syscall.SIGTERM))
	if err := watches[pid].Wait(); err != nil {
		p.Errorf("after SIGTERM the leader ended with %v", err)
	}
	delete(watches, pid)
	if holder := p.leaseHolder(p.namespace); strings.HasSuffix(holder, fmt.Sprintf("_%d", pid)) {
		p.Errorf("the leader has ended and kept the Lease: %s", holder)
	}
}

func newPlay(t *testing.T) *play {
	s := newSite(t)
	p := &play{site: s, namespace: unique(t), allowed: map[string]string{}, received: map[string]string{}}
	_, err := s.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}, metav1.CreateOptions{})
	must(s, err)
	t.Cleanup(func() {
		s.eventually("the namespace is deleted", func() error {
			return s.kube.CoreV1().Namespaces().Delete(context.Background(), p.namespace, metav1.DeleteOptions{})
		})
	})
	client, err := dynamic.NewForConfig(s.config)
	must(s, err)
	p.workflows = client.Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}).Namespace(p.namespace)
	return p
}

// preempted plays a run whose first attempt is preempted.
func (p *play) preempted(name string) error {
	fresh := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"entrypoint": "run", "suspend": true}, "status": state(name, "Running", "Pending", ""),
	}}
	var created *unstructured.Unstructured
	err := persist(func() (err error) {
		created, err = p.workflows.Create(p.Context(), fresh, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			created, err = p.workflows.Get(p.Context(), name, metav1.GetOptions{})
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := p.implies(created); err != nil {
		return err
	}
	steps := []map[string]any{
		state(name, "Running", "Running", ""), state(name, "Running", "Error", "Pending"),
		state(name, "Running", "Error", "Running"), state(name, "Succeeded", "Error", "Succeeded"),
	}
	for i, step := range steps {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond)
		if i == 1 {
			if err := p.evict(created, name+"-0"); err != nil {
				return err
			}
		}
		patch, err := json.Marshal(map[string]any{"status": step})
		if err != nil {
			return err
		}
		var changed *unstructured.Unstructured
		err = persist(func() (err error) {
			changed, err = p.workflows.Patch(p.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
		if err != nil {
			return err
		}
		if err := p.implies(changed); err != nil {
			return err
		}
	}
	return nil
}

// state is what Argo writes: a task with a first and perhaps a second attempt.
func state(name, phase, first, second string) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	node := func(id, suffix, kind, phase string, children ...string) map[string]any {
		n := map[string]any{"id": id, "name": name + suffix, "displayName": strings.TrimPrefix(suffix, "."), "type": kind, "phase": phase, "children": children, "startedAt": now}
		if phase == "Error" || phase == "Succeeded" {
			n["finishedAt"], n["hostNodeName"] = now, "node1"
		}
		if phase == "Error" {
			n["message"] = "pod deleted"
		}
		return n
	}
	children := []string{name + "-0"}
	nodes := map[string]any{name + "-0": node(name+"-0", ".fit(0)", "Pod", first)}
	if second != "" {
		children = append(children, name+"-1")
		nodes[name+"-1"] = node(name+"-1", ".fit(1)", "Pod", second)
	}
	nodes[name] = node(name, "", "DAG", phase, name+"-fit")
	nodes[name+"-fit"] = node(name+"-fit", ".fit", "Retry", phase, children...)
	is := map[string]any{"phase": phase, "startedAt": now, "nodes": nodes}
	if phase == "Succeeded" {
		is["finishedAt"] = now
	}
	return is
}

// evict plays Kueue: a condition on a pod, and a moment later no pod.
func (p *play) evict(of *unstructured.Unstructured, node string) error {
	pods := p.kube.CoreV1().Pods(p.namespace)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: node, Labels: map[string]string{cause.WorkflowLabel: of.GetName()}, Annotations: map[string]string{cause.NodeAnnotation: node},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "argoproj.io/v1alpha1", Kind: "Workflow", Name: of.GetName(), UID: of.GetUID()}},
		},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "test.example/never"}},
			Containers:      []corev1.Container{{Name: "main", Image: busybox}},
		},
	}
	condition := []byte(`{"status": {"conditions": [{"type": "TerminationTarget", "status": "True", "reason": "WorkloadEvictedDueToPreempted", "lastTransitionTime": "` +
		time.Now().UTC().Format(time.RFC3339) + `"}]}}`)
	err := persist(func() error {
		_, err := pods.Create(p.Context(), pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	err = persist(func() error {
		_, err := pods.Patch(p.Context(), node, types.StrategicMergePatchType, condition, metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // as long as the shortest that was seen
	return persist(func() error {
		err := pods.Delete(p.Context(), node, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// persist tries a write as the controllers do that the test plays.
func persist(write func() error) error {
	_, err := backoff.Retry(context.Background(), func() (struct{}, error) { return struct{}{}, write() }, backoff.WithMaxElapsedTime(patience))
	return err
}

// implies notes the events of a state that was written.
func (p *play) implies(object *unstructured.Unstructured) error {
	events, err := p.eventsOf(object)
	if err != nil {
		return err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, e := range events {
		p.allowed[e.ID()] = e.Type()
	}
	return nil
}

func (p *play) eventsOf(object *unstructured.Unstructured) ([]event.Event, error) {
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	w, err := status.Decode(text)
	if err != nil {
		return nil, err
	}
	return event.Of(w, nil, event.Source("", p.namespace)), nil
}

// complete says what the end states imply and nobody has received, and which
// proof is not on its Workflow.
func (p *play) complete() error {
	list, err := p.workflows.List(p.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	missing, lost := 0, 0
	last := ""
	for i := range list.Items {
		events, err := p.eventsOf(&list.Items[i])
		if err != nil {
			return err
		}
		preempted := 0
		for _, e := range events {
			if p.received[e.ID()] == "" {
				missing, last = missing+1, e.Type()+" of "+e.Subject()
			}
			if e.EndOfAttempt() && e.Attempt.Cause == cause.Preempted {
				preempted++
			}
		}
		if preempted != 1 {
			lost++
		}
	}
	if missing > 0 || lost > 0 {
		return fmt.Errorf("%d events are missing, such as %s; %d proofs are", missing, last, lost)
	}
	return nil
}
