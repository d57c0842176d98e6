//go:build cluster

package clustertest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// alone waits until no other test, of this process or another one, uses what
// only one can use at a time.
func (s *site) alone(what string) {
	s.Helper()
	must(s, s.lock(what, syscall.LOCK_EX))
}

// beside waits until no test has alone what others use together.
func (s *site) beside(what string) {
	s.Helper()
	must(s, s.lock(what, syscall.LOCK_SH))
}

// lock takes a lock until the end of the test.
func (s *site) lock(what string, how int) error {
	s.Helper()
	file, err := lockFile(filepath.Join(root, "bin", what+".lock"), how)
	if err == nil {
		s.Cleanup(func() { file.Close() })
	}
	return err
}

// lockFile takes a lock that is given back when the file is closed.
func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// watchReplicas are what a test kills alone, and what others read counts of: a
// replica takes its counts with it. It is taken before any queue.
const watchReplicas = "watch"

// own gives a test a queue of 150m in which nothing but its own runs is counted.
func (s *site) own() string {
	s.Helper()
	for {
		for i := range 8 {
			queue := fmt.Sprintf("own-%d", i+1)
			err := s.lock(queue, syscall.LOCK_EX|syscall.LOCK_NB)
			if err == nil {
				return queue
			}
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				s.Fatal(err)
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// scarce gives a test the queue of 2 cpu in which runs preempt each other.
// Argo's executor takes 10m beside each program.
func (s *site) scarce() string {
	s.Helper()
	s.alone("scarce")
	return "scarce"
}

// hold is a program that runs until it is told to end, and ends at once then.
const hold = "trap 'exit 143' TERM; sleep 3600 & wait"

func cpu(amount string) map[string]any {
	return map[string]any{"resources": map[string]any{"cpu": amount, "memory": "64Mi"}}
}

// outrank runs a run of high priority until the test has it cancelled.
func (s *site) outrank(queue, amount string) string {
	s.Helper()
	run := s.submit(map[string]any{"id": unique(s.T), "queue": queue, "priority": "high", "tasks": []any{task("hold", hold, cpu(amount))}})
	s.runningPod(run, "hold")
	return run
}

func (s *site) cancel(run string) {
	s.Helper()
	if got := s.call("demo-token", "cancel", map[string]any{"run": run}); got.code != http.StatusOK {
		s.Fatalf("cancel answered %d: %s", got.code, got.body)
	}
}

var workloads = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}

// openWorkloads names what Kueue still counts or queues of a run's pods: those
// of pods that have ended stand as finished until the pods are deleted.
func (s *site) openWorkloads(run string) []string {
	return s.workloads(run, func(w unstructured.Unstructured) bool {
		conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
		for _, c := range conditions {
			condition, _ := c.(map[string]any)
			if condition["type"] == "Finished" && condition["status"] == "True" {
				return false
			}
		}
		return true
	})
}

func (s *site) workloads(run string, asked func(unstructured.Unstructured) bool) []string {
	s.Helper()
	client, err := dynamic.NewForConfig(s.config)
	must(s, err)
	list, err := client.Resource(workloads).Namespace(namespace).List(s.Context(), metav1.ListOptions{})
	must(s, err)
	var names []string
	for _, w := range list.Items {
		if strings.HasPrefix(w.GetName(), "pod-"+run+"-") && asked(w) {
			names = append(names, w.GetName())
		}
	}
	return names
}

// openPods names the pods of a run that have not ended.
func (s *site) openPods(run string) []string {
	s.Helper()
	list, err := s.kube.CoreV1().Pods(namespace).List(s.Context(), metav1.ListOptions{LabelSelector: "runhook/run=" + run})
	must(s, err)
	var names []string
	for _, pod := range list.Items {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			names = append(names, pod.Name)
		}
	}
	return names
}
