//go:build cluster

package clustertest

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// asRunhook gives a client that is runhook's account to the API server.
func (s *site) asRunhook() kubernetes.Interface {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: account}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.Fatal(err)
	}
	return kube
}

// mayAllOfNodes lets runhook's account do anything with nodes for the time of a
// test, so that what refuses is the policy and not RBAC.
func (s *site) mayAllOfNodes() {
	s.Helper()
	ctx, name := context.Background(), metav1.ObjectMeta{Name: unique(s.T)}
	role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes", "nodes/status"}, Verbs: []string{"*"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: account}},
	}
	if _, err := s.kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.kube.RbacV1().ClusterRoles().Delete(ctx, name.Name, metav1.DeleteOptions{}) })
	if _, err := s.kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.kube.RbacV1().ClusterRoleBindings().Delete(ctx, name.Name, metav1.DeleteOptions{}) })
}

func TestRunhookMayChangeNothingOfANodeButItsReservation(t *testing.T) {
	s := newSite(t)
	s.mayAllOfNodes()
	kube := s.asRunhook()
	dryRun := []string{metav1.DryRunAll} // admission decides, and nothing is changed
	patch := func(text string, subresources ...string) error {
		_, err := kube.CoreV1().Nodes().Patch(context.Background(), "node2", types.MergePatchType, []byte(text), metav1.PatchOptions{DryRun: dryRun}, subresources...)
		return err
	}
	const reservation = `{"metadata":{"labels":{"simrun/reserved":"a"}},"spec":{"taints":[{"key":"simrun/reserved","value":"a","effect":"NoExecute"}]}}`
	s.eventually("a reservation is let through", func() error { return patch(reservation) })
	for name, change := range map[string]func() error{
		"another taint": func() error { return patch(`{"spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]}}`) },
		"its key, another effect": func() error {
			return patch(`{"spec":{"taints":[{"key":"simrun/reserved","value":"a","effect":"NoSchedule"}]}}`)
		},
		"a taint beside its own": func() error {
			return patch(`{"spec":{"taints":[{"key":"simrun/reserved","value":"a","effect":"NoExecute"},{"key":"gpu","effect":"NoExecute"}]}}`)
		},
		"another label":     func() error { return patch(`{"metadata":{"labels":{"simrun/worker":"false"}}}`) },
		"a label taken off": func() error { return patch(`{"metadata":{"labels":{"simrun/worker":null}}}`) },
		"a new label":       func() error { return patch(`{"metadata":{"labels":{"x":"y"}}}`) },
		"an annotation":     func() error { return patch(`{"metadata":{"annotations":{"x":"y"}}}`) },
		"a finalizer":       func() error { return patch(`{"metadata":{"finalizers":["x/y"]}}`) },
		"an owner": func() error {
			return patch(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"node1","uid":"1"}]}}`)
		},
		"cordoned":   func() error { return patch(`{"spec":{"unschedulable":true}}`) },
		"its status": func() error { return patch(`{"status":{"allocatable":{"cpu":"1"}}}`, "status") },
		"deleted": func() error {
			return kube.CoreV1().Nodes().Delete(context.Background(), "node2", metav1.DeleteOptions{DryRun: dryRun})
		},
		"created": func() error {
			_, err := kube.CoreV1().Nodes().Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{DryRun: dryRun})
			return err
		},
	} {
		err := change()
		if err == nil || apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "runhook-nodes") {
			t.Errorf("%s: got %v, want the refusal of the policy", name, err)
		}
	}
	if _, err := s.kube.CoreV1().Nodes().Patch(context.Background(), "node2", types.MergePatchType, []byte(`{"metadata":{"annotations":{"x":"y"}}}`), metav1.PatchOptions{DryRun: dryRun}); err != nil {
		t.Errorf("others are not bound by the policy: %v", err)
	}
}
