package watch

import (
	"github.com/runhook/runhook/pkg/extra"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/once"
)

// LeaseName is the Lease by which the replicas agree on who sends.
const LeaseName = "runhook-watch"

// Access lists what the watch needs of the cluster; its Roles are made from it.
func Access() []function.Access {
	return []function.Access{
		{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "list", "patch", "watch"}},
		extra.Access,
		{Resource: "pods", Verbs: []string{"list", "watch"}},
		{Group: "batch", Resource: "jobs", Verbs: []string{"list", "watch"}},
		{Group: "kueue.x-k8s.io", Resource: "localqueues", Verbs: []string{"list", "watch"}},
		// A create cannot be bound to a name.
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"create"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "update"}, Names: []string{LeaseName}},
		once.ForgetAccess,
		// Reservations of runs that have ended are taken away.
		{Resource: "nodes", Verbs: []string{"get", "list", "patch"}, Cluster: true},
		// Tokens of ServiceAccounts that read the events are shown to the API server.
		{Group: "authentication.k8s.io", Resource: "tokenreviews", Verbs: []string{"create"}, Cluster: true},
	}
}
