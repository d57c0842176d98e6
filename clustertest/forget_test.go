//go:build cluster

package clustertest

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/once"
)

// A watch that begins to lead deletes what was remembered longer ago than that
// is asked for, and nothing else.
func TestTheLeaderForgetsOldAlerts(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	leases := p.kube.CoordinationV1().Leases(p.namespace)
	make := func(key string, labels map[string]string, age time.Duration) string {
		_, err := leases.Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: once.Name(key), Labels: labels},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("done"), RenewTime: &metav1.MicroTime{Time: time.Now().Add(-age)}},
		}, metav1.CreateOptions{})
		must(p.site, err)
		return once.Name(key)
	}
	ours := map[string]string{once.Label: "alert"}
	old := make("old", ours, limits.OnceKeep+time.Minute)
	kept := []string{make("fresh", ours, limits.OnceKeep-time.Hour), make("another's", nil, 2*limits.OnceKeep)}

	p.watch("")
	p.eventually("the old one is deleted", func() error {
		_, err := leases.Get(t.Context(), old, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there, or: %w", err)
	})
	for _, name := range kept {
		if _, err := leases.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
}
