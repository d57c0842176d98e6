// Package once remembers across replicas and restarts what was done: a Lease
// of the cluster stands for each key.
package once

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// Label stands on every Lease of this package.
const Label = "runhook/once"

// The holder of a Lease says where its deed stands; nobody holds one whose deed
// was given up.
const (
	pending = "pending"
	done    = "done"
)

// Cluster keeps the Leases. An update of one that was changed is a Conflict.
type Cluster interface {
	Lease(ctx context.Context, name string) (*coordinationv1.Lease, error)
	CreateLease(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error)
	UpdateLease(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error)
}

// Access is what it needs of the cluster.
var Access = function.Access{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"create", "get", "update"}}

// Memory remembers deeds.
type Memory struct {
	cluster Cluster
	now     func() time.Time
}

// New makes a memory.
func New(cluster Cluster) Memory { return Memory{cluster, time.Now} }

// Name is the Lease's name of a key.
func Name(key string) string { return "runhook-once-" + run.Hash(key)[:32] }

// Do acts, unless it was done for this key. What reports false may be done
// again at once; what never comes back, after limits.OncePending. While somebody
// else acts, the answer is an Unavailable fault.
func (m Memory) Do(ctx context.Context, key string, act func() bool) (acted bool, err error) {
	lease, err := m.take(ctx, Name(key))
	if lease == nil || err != nil {
		return false, err
	}
	state := ""
	if act() {
		state = done
	}
	// The deed is done, also where the caller's time is over. What cannot be
	// noted is acted on once more when it comes again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.OnceNote)
	defer cancel()
	_, _ = m.cluster.UpdateLease(ctx, m.held(lease, state))
	return true, nil
}

// take gives the Lease to who may act; nil when it was done.
func (m Memory) take(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	fresh := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{Label: "alert", owner.ManagedBy: owner.Name},
	}}
	lease, err := m.cluster.CreateLease(ctx, m.held(fresh, pending))
	if fault.KindOf(err) != fault.Conflict {
		return lease, err
	}
	if lease, err = m.cluster.Lease(ctx, name); err != nil {
		return nil, err
	}
	switch holder := lease.Spec.HolderIdentity; {
	case holder == nil:
	case *holder == done:
		return nil, nil
	case *holder == pending && lease.Spec.RenewTime != nil:
		if m.now().Sub(lease.Spec.RenewTime.Time) < limits.OncePending {
			return nil, busy()
		}
	}
	lease, err = m.cluster.UpdateLease(ctx, m.held(lease, pending))
	if fault.KindOf(err) == fault.Conflict {
		return nil, busy()
	}
	return lease, err
}

// held gives the Lease with another holder, none where the state is empty.
func (m Memory) held(lease *coordinationv1.Lease, state string) *coordinationv1.Lease {
	lease = lease.DeepCopy()
	lease.Spec.HolderIdentity = nil
	if state != "" {
		lease.Spec.HolderIdentity = &state
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: m.now()}
	return lease
}

func busy() error {
	return fault.New(fault.Unavailable, "the same is being acted on just now")
}
