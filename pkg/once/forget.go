package once

import (
	"context"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// Leases are those of the cluster. One that was changed since it was read is
// not deleted: a Conflict.
type Leases interface {
	EachLease(ctx context.Context, selector string, visit func(*coordinationv1.Lease)) error
	DeleteLease(ctx context.Context, lease *coordinationv1.Lease) error
}

// ForgetAccess is what Forget needs of the cluster.
var ForgetAccess = function.Access{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"delete", "list"}}

// Forget deletes the Leases of this package that nobody has touched for as long
// as they are kept, and tells how many. Doing it again is harmless. However short
// that is, the Lease of who may still act stays.
func Forget(ctx context.Context, on Leases, keep time.Duration, now time.Time) (forgotten int, err error) {
	keep = max(keep, limits.OncePending)
	var old []*coordinationv1.Lease
	err = on.EachLease(ctx, Label, func(lease *coordinationv1.Lease) {
		if now.Sub(touched(lease)) > keep {
			old = append(old, known(lease))
		}
	})
	if err != nil {
		return 0, err
	}
	for _, lease := range old {
		switch gone := on.DeleteLease(ctx, lease); fault.KindOf(gone) {
		case "":
			forgotten++
		case fault.NotFound, fault.Conflict: // somebody was faster, or it is acted on again
		default:
			err = errors.Join(err, gone)
		}
	}
	return forgotten, err
}

// known is what a Lease is deleted by: alerts that come and go leave very many,
// and whole ones would fill the memory.
func known(lease *coordinationv1.Lease) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: lease.Name, UID: lease.UID, ResourceVersion: lease.ResourceVersion}}
}

// touched is when a Lease was last written, as far as it says so.
func touched(lease *coordinationv1.Lease) time.Time {
	if lease.Spec.RenewTime != nil {
		return lease.Spec.RenewTime.Time
	}
	return lease.CreationTimestamp.Time
}
