package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/runhook/runhook/pkg/capacity"
	"github.com/runhook/runhook/pkg/fault"
)

var (
	gpu         = corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	maintenance = corev1.Taint{Key: "maintenance", Value: "x", Effect: corev1.TaintEffectNoSchedule}
	ours        = corev1.Taint{Key: "simrun/reserved", Value: "run-1", Effect: corev1.TaintEffectNoExecute}
	keys        = capacity.Settings{Workers: labels.Everything(), Reservation: "simrun/reserved"}
)

func reserve(run string) func(*corev1.Node) (bool, error) {
	return func(node *corev1.Node) (bool, error) { return keys.Reserve(node, run), nil }
}

func gpuNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", ResourceVersion: "7", Labels: map[string]string{"zone": "a"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{gpu}},
	}
}

// Another writer adds a taint between our reading and our writing.
func TestReservationKeepsWhatAnotherWriterAddedMeanwhile(t *testing.T) {
	kube := fake.NewClientset(gpuNode())
	var patches []string
	kube.PrependReactor("patch", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patches = append(patches, string(action.(clienttesting.PatchAction).GetPatch()))
		if len(patches) > 1 {
			return false, nil, nil
		}
		node := gpuNode()
		node.ResourceVersion, node.Spec.Taints = "8", append(node.Spec.Taints, maintenance)
		if err := kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), node, ""); err != nil {
			t.Fatal(err)
		}
		return true, nil, apierrors.NewConflict(corev1.Resource("nodes"), "n1", errors.New("the object has been modified"))
	})
	c := &Cluster{kube: kube}
	if err := c.ChangeNode(t.Context(), "n1", reserve("run-1")); err != nil {
		t.Fatal(err)
	}
	wantPatches := []string{
		`{"metadata":{"labels":{"simrun/reserved":"run-1"},"resourceVersion":"7"},"spec":{"taints":[{"effect":"NoSchedule","key":"gpu","value":"yes"},{"effect":"NoExecute","key":"simrun/reserved","value":"run-1"}]}}`,
		`{"metadata":{"labels":{"simrun/reserved":"run-1"},"resourceVersion":"8"},"spec":{"taints":[{"effect":"NoSchedule","key":"gpu","value":"yes"},{"effect":"NoSchedule","key":"maintenance","value":"x"},{"effect":"NoExecute","key":"simrun/reserved","value":"run-1"}]}}`,
	}
	if diff := cmp.Diff(wantPatches, patches); diff != "" {
		t.Errorf("patches, want -, got +:\n%s", diff)
	}
	check := func(what string, taints []corev1.Taint, labels map[string]string) {
		t.Helper()
		node, err := c.Node(t.Context(), "n1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(taints, node.Spec.Taints); diff != "" {
			t.Errorf("%s: taints, want -, got +:\n%s", what, diff)
		}
		if diff := cmp.Diff(labels, node.Labels); diff != "" {
			t.Errorf("%s: labels, want -, got +:\n%s", what, diff)
		}
	}
	check("reserved", []corev1.Taint{gpu, maintenance, ours}, map[string]string{"zone": "a", "simrun/reserved": "run-1"})
	unreserve := func(node *corev1.Node) (bool, error) { return keys.Unreserve(node, "run-1"), nil }
	if err := c.ChangeNode(t.Context(), "n1", unreserve); err != nil {
		t.Fatal(err)
	}
	check("unreserved", []corev1.Taint{gpu, maintenance}, map[string]string{"zone": "a"})
}

func TestTheLastTaintGoes(t *testing.T) {
	node := gpuNode()
	node.Spec.Taints = []corev1.Taint{ours}
	patch, err := guardedPatch(node, gpuNodeWithout())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"metadata":{"resourceVersion":"7"},"spec":{"taints":null}}`; string(patch) != want {
		t.Errorf("got %s, want %s", patch, want)
	}
}

func gpuNodeWithout() *corev1.Node {
	node := gpuNode()
	node.Spec.Taints = nil
	return node
}

func TestChangeNodeGivesUpWithTheCall(t *testing.T) {
	kube := fake.NewClientset(gpuNode())
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	kube.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		if tries++; tries == 3 {
			cancel()
		}
		return true, nil, apierrors.NewConflict(corev1.Resource("nodes"), "n1", errors.New("the object has been modified"))
	})
	err := (&Cluster{kube: kube}).ChangeNode(ctx, "n1", reserve("run-1"))
	if fault.KindOf(err) != fault.Unavailable || fault.From(err).RetryAfter < time.Second {
		t.Errorf("got %v, want a 503 that says when to try again", err)
	}
	if tries != 3 {
		t.Errorf("%d tries, want 3", tries)
	}
}

func TestChangeNodeWritesNothing(t *testing.T) {
	refusal := fault.New(fault.Conflict, "reserved for another run")
	for name, tc := range map[string]struct {
		node   string
		change func(*corev1.Node) (bool, error)
		want   fault.Kind
	}{
		"unknown":      {"n2", reserve("run-1"), fault.NotFound},
		"nothing new":  {"n1", func(*corev1.Node) (bool, error) { return false, nil }, ""},
		"not allowed":  {"n1", func(node *corev1.Node) (bool, error) { keys.Reserve(node, "a"); return true, refusal }, fault.Conflict},
		"cluster away": {"n1", reserve("run-1"), fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset(gpuNode())
			if tc.want == fault.Unavailable {
				kube.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewInternalError(errors.New("etcd"))
				})
			}
			if err := (&Cluster{kube: kube}).ChangeNode(t.Context(), tc.node, tc.change); fault.KindOf(err) != tc.want {
				t.Errorf("got %v, want kind %q", err, tc.want)
			}
			for _, action := range kube.Actions() {
				if action.GetVerb() != "get" {
					t.Errorf("wrote: %v", action)
				}
			}
		})
	}
}
