// Package record takes the word of a Sensor that points at a Workflow or a pod:
// it reads the object again, writes what that proves on the Workflow, and gives
// the events that the Workflow implies with it.
package record

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/evidence"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/lookup"
	"github.com/runhook/runhook/pkg/owner"
)

// Cluster is what record does on the cluster.
type Cluster interface {
	lookup.Cluster
	evidence.Annotator
	Pod(ctx context.Context, name string) (*corev1.Pod, error)
	Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error)
}

// Settings are the parts of the config that record follows.
type Settings struct {
	Namespace string
	// Source is that of the watch's events.
	Source  string
	Foreign owner.Foreign
}

// Response holds what the Workflow implies with its evidence: of a Workflow all
// events, of a pod those of its attempts, its task and its run. They have the
// ids under which the watch sends them.
type Response struct {
	Events []event.Event `json:"events"`
}

// New makes the function.
func New(cluster Cluster, settings Settings) function.Function {
	r := recorder{cluster, settings, lookup.Finder{Cluster: cluster, Foreign: settings.Foreign}, time.Now}
	return function.Function{
		Name:    "record",
		Summary: "takes the word of a Sensor that points at a Workflow or a pod, and keeps what it proves",
		Access: []function.Access{
			{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "patch"}},
			{Resource: "pods", Verbs: []string{"get", "list"}},
		},
		Request:  Request{},
		Response: Response{},
		Check:    function.Checked(func(request Request) error { return request.check(settings.Namespace) }),
		Handle:   function.Typed(r.handle),
	}
}
