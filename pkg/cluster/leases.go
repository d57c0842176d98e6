package cluster

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lease gives a Lease.
func (c *Cluster) Lease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	lease, err := c.kube.CoordinationV1().Leases(c.namespace).Get(ctx, name, metav1.GetOptions{})
	return lease, faultOf(err, "lease "+name)
}

// CreateLease creates a Lease. A name that is taken is a Conflict.
func (c *Cluster) CreateLease(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	created, err := c.kube.CoordinationV1().Leases(c.namespace).Create(ctx, lease, metav1.CreateOptions{})
	return created, faultOf(err, "lease "+lease.Name)
}

// UpdateLease writes a Lease. One that was changed since it was read is a Conflict.
func (c *Cluster) UpdateLease(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	updated, err := c.kube.CoordinationV1().Leases(c.namespace).Update(ctx, lease, metav1.UpdateOptions{})
	return updated, faultOf(err, "lease "+lease.Name)
}

// EachLease visits every Lease that a label selector matches, page by page.
func (c *Cluster) EachLease(ctx context.Context, selector string, visit func(*coordinationv1.Lease)) error {
	return each(ctx, "the leases", metav1.ListOptions{LabelSelector: selector}, c.kube.CoordinationV1().Leases(c.namespace).List, visit)
}

// DeleteLease deletes a Lease that was not changed since it was read.
func (c *Cluster) DeleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}}
	return faultOf(c.kube.CoordinationV1().Leases(c.namespace).Delete(ctx, lease.Name, options), "lease "+lease.Name)
}
