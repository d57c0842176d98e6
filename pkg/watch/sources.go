package watch

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cause"
)

var localQueues = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "localqueues"}

// byWorkflow is the index of pods by the Workflow that they belong to, byRun
// that of helpers by their run.
const (
	byWorkflow = "workflow"
	byRun      = "run"
)

// Clients are those of the watch.
type Clients struct {
	kube      kubernetes.Interface
	workflows cache.ListerWatcher
	metadata  metadata.Interface
	namespace string
}

// Connect makes the clients. They have no time limit: a watch is endless.
func Connect(config *rest.Config, namespace string) (*Clients, error) {
	plain := rest.CopyConfig(config)
	plain.Timeout = 0
	protobuf := rest.CopyConfig(plain)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	kube, err := kubernetes.NewForConfig(protobuf)
	if err != nil {
		return nil, err
	}
	names, err := metadata.NewForConfig(plain)
	if err != nil {
		return nil, err
	}
	plain.APIPath, plain.GroupVersion = "/apis", &workflowVersion
	plain.NegotiatedSerializer = serializer.NewCodecFactory(workflowScheme()).WithoutConversion()
	workflows, err := rest.RESTClientFor(plain)
	if err != nil {
		return nil, err
	}
	return &Clients{
		kube: kube, metadata: names, namespace: namespace,
		workflows: cache.NewListWatchFromClient(workflows, "workflows", namespace, fields.Everything()),
	}, nil
}

// sources are the informers, of which nothing runs yet.
type sources struct {
	workflows, pods, queues cache.SharedIndexInformer
	namespace               string
}

func (c *Clients) sources(trim cache.TransformFunc) (*sources, error) {
	s := &sources{namespace: c.namespace, workflows: cache.NewSharedIndexInformer(c.workflows, &workflow{}, 0, cache.Indexers{byRun: runOfHelper})}
	podsOf := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithNamespace(c.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = cause.WorkflowLabel }))
	s.pods = podsOf.Core().V1().Pods().Informer()
	s.queues = metadatainformer.NewFilteredSharedInformerFactory(c.metadata, 0, c.namespace, nil).ForResource(localQueues).Informer()
	if err := s.workflows.SetTransform(trim); err != nil {
		return nil, err
	}
	if err := s.pods.SetTransform(trimPod); err != nil {
		return nil, err
	}
	err := s.pods.AddIndexers(cache.Indexers{byWorkflow: func(object any) ([]string, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return nil, nil
		}
		return []string{pod.Labels[cause.WorkflowLabel]}, nil
	}})
	if err != nil {
		return nil, err
	}
	// Without Kueue there are no LocalQueues, and the reflector would say so
	// every few seconds.
	return s, s.queues.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
}

// Workflow gives one of the cache.
func (s *sources) Workflow(name string) *workflow {
	object, exists, err := s.workflows.GetStore().GetByKey(s.namespace + "/" + name)
	if err != nil || !exists {
		return nil
	}
	w, _ := object.(*workflow)
	return w
}

// Workflows gives all.
func (s *sources) Workflows() []*workflow {
	var all []*workflow
	for _, object := range s.workflows.GetStore().List() {
		if w, ok := object.(*workflow); ok {
			all = append(all, w)
		}
	}
	return all
}

func runOfHelper(object any) ([]string, error) {
	if w, ok := object.(*workflow); ok && w.Labels[argo.ExtraOfLabel] != "" {
		return []string{w.Labels[argo.ExtraOfLabel]}, nil
	}
	return nil, nil
}

// Helpers gives the Workflows of a run's helpers.
func (s *sources) Helpers(run string) []*workflow {
	objects, err := s.workflows.GetIndexer().ByIndex(byRun, run)
	if err != nil {
		return nil // the index is made with the informer
	}
	var all []*workflow
	for _, object := range objects {
		if w, ok := object.(*workflow); ok {
			all = append(all, w)
		}
	}
	return all
}

// Pods gives those of a Workflow's name.
func (s *sources) Pods(name string) []corev1.Pod {
	objects, err := s.pods.GetIndexer().ByIndex(byWorkflow, name)
	if err != nil {
		return nil // the index is made with the informer
	}
	pods := make([]corev1.Pod, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, *pod)
		}
	}
	return pods
}
