//go:build cluster

package clustertest

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// slot is a resource of which one node has one: the scheduler makes room for a
// pod that asks for it where it ends the other pod that does, and nowhere else.
const slot = "test.example/slot"

var needsSlot = map[string]any{"resources": map[string]any{"cpu": "100m", "memory": "64Mi", slot: "1"}}

// giveSlot gives a node the slot until the end of the test.
func giveSlot(r *trial) {
	r.Helper()
	r.alone("slot")
	const node = "node2"
	path := strings.ReplaceAll(slot, "/", "~1")
	r.Cleanup(func() {
		r.eventually("the node has no slot", func() error {
			patch := `[{"op": "remove", "path": "/status/capacity/` + path + `"}, {"op": "remove", "path": "/status/allocatable/` + path + `"}]`
			_, err := r.kube.CoreV1().Nodes().Patch(context.Background(), node, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}, "status")
			return err
		})
	})
	patch := `{"status": {"capacity": {"` + slot + `": "1"}, "allocatable": {"` + slot + `": "1"}}}`
	_, err := r.kube.CoreV1().Nodes().Patch(r.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	must(r.site, err)
}

// takeSlot creates a pod of no queue that needs the slot, and has a priority.
func takeSlot(r *trial, _ *corev1.Pod) (giveBack func()) {
	r.Helper()
	pod := r.bystander(metav1.NamespaceDefault, corev1.ResourceList{slot: resource.MustParse("1")})
	pod.Spec.PriorityClassName = r.run
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: r.run}, Value: 1000}
	classes := r.kube.SchedulingV1().PriorityClasses()
	_, err := classes.Create(r.Context(), class, metav1.CreateOptions{})
	must(r.site, err)
	r.Cleanup(func() {
		if err := classes.Delete(context.Background(), class.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			r.Errorf("delete the priority class: %v", err)
		}
	})
	return r.create(pod)
}
