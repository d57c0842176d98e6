package watch

import (
	"sync/atomic"

	jsonv2 "github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/status"
)

// workflow is a Workflow as the cache holds it: what is read, and nothing else.
// Argo's own type would take some twenty times the memory.
type workflow struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// held is replaced as a whole, also while others read it: a run that ended
	// long ago gives its nodes up, and the cache does not hear of it again.
	held  *atomic.Pointer[status.Workflow]
	queue string
	// fault says why the state has no nodes.
	fault error
}

// state is shared by all who read it, and never changed.
func (w *workflow) state() *status.Workflow { return w.held.Load() }

// workflowList is what the API server lists.
type workflowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []workflow `json:"items"`
}

// head is what every object has.
type head struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   status.Metadata `json:"metadata"`
}

// UnmarshalJSON reads one object. One that somebody broke must not keep the
// others from being read: it is held without its nodes.
func (w *workflow) UnmarshalJSON(data []byte) error {
	var read struct {
		head
		Spec struct {
			PodMetadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"podMetadata"`
		} `json:"spec"`
	}
	if jsonv2.Unmarshal(data, &read) != nil {
		// Argo's smaller CRD lets anything stand in a spec.
		if err := jsonv2.Unmarshal(data, &read.head); err != nil {
			return err
		}
	}
	m := read.Metadata
	w.TypeMeta = metav1.TypeMeta{APIVersion: read.APIVersion, Kind: read.Kind}
	w.ObjectMeta = metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: types.UID(m.UID), ResourceVersion: m.ResourceVersion,
		Labels: m.Labels, Annotations: m.Annotations, CreationTimestamp: metav1.NewTime(m.CreationTimestamp),
	}
	w.queue = read.Spec.PodMetadata.Labels[argo.QueueLabel]
	state, err := status.Decode(data)
	if err != nil {
		state = &status.Workflow{Metadata: m}
	}
	w.fault, w.held = err, &atomic.Pointer[status.Workflow]{}
	w.held.Store(state)
	return nil
}

// DeepCopyObject shares the state, which nobody changes.
func (w *workflow) DeepCopyObject() runtime.Object {
	c := *w
	c.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &c
}

// DeepCopyObject copies the list.
func (l *workflowList) DeepCopyObject() runtime.Object {
	c := *l
	c.ListMeta = *l.ListMeta.DeepCopy()
	c.Items = make([]workflow, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*workflow)
	}
	return &c
}

var workflowVersion = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// workflowScheme decodes Workflows into the slim type.
func workflowScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(workflowVersion.WithKind("Workflow"), &workflow{})
	scheme.AddKnownTypeWithName(workflowVersion.WithKind("WorkflowList"), &workflowList{})
	metav1.AddToGroupVersion(scheme, workflowVersion)
	return scheme
}
