package watch

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
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
	"github.com/runhook/runhook/pkg/image"
)

var localQueues = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "localqueues"}

// byWorkflow is the index of pods by the Workflow that they belong to, byRun
// that of helpers by their run, byBuild that of pods by the build of their Job.
const (
	byWorkflow = "workflow"
	byRun      = "run"
	byBuild    = "build"
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
	workflows, pods, queues, jobs, buildPods cache.SharedIndexInformer
	namespace                                string
}

func (s *sources) all() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{s.workflows, s.pods, s.queues, s.jobs, s.buildPods}
}

func (c *Clients) sources(trim cache.TransformFunc) (*sources, error) {
	s := &sources{namespace: c.namespace, workflows: cache.NewSharedIndexInformer(c.workflows, &workflow{}, 0, cache.Indexers{byRun: label(argo.ExtraOfLabel)})}
	labelled := func(selector string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithNamespace(c.namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	}
	s.pods = labelled(cause.WorkflowLabel).Core().V1().Pods().Informer()
	s.jobs = labelled(image.BuildLabel).Batch().V1().Jobs().Informer()
	s.buildPods = labelled(image.BuildLabel + ",!" + cause.WorkflowLabel).Core().V1().Pods().Informer()
	s.queues = metadatainformer.NewFilteredSharedInformerFactory(c.metadata, 0, c.namespace, nil).ForResource(localQueues).Informer()
	for informer, slim := range map[cache.SharedIndexInformer]cache.TransformFunc{
		s.workflows: trim, s.pods: trimPod, s.jobs: trimJob, s.buildPods: trimPod,
	} {
		if err := informer.SetTransform(slim); err != nil {
			return nil, err
		}
	}
	if err := s.pods.AddIndexers(cache.Indexers{byWorkflow: label(cause.WorkflowLabel)}); err != nil {
		return nil, err
	}
	if err := s.buildPods.AddIndexers(cache.Indexers{byBuild: label(image.BuildLabel)}); err != nil {
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
func (s *sources) Workflows() []*workflow { return only[*workflow](s.workflows.GetStore().List()) }

// label is an index by the value of a label.
func label(key string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		if of, ok := object.(metav1.Object); ok && of.GetLabels()[key] != "" {
			return []string{of.GetLabels()[key]}, nil
		}
		return nil, nil
	}
}

// Helpers gives the Workflows of a run's helpers.
func (s *sources) Helpers(run string) []*workflow {
	return indexed[*workflow](s.workflows, byRun, run)
}

// Pods gives those of a Workflow's name.
func (s *sources) Pods(name string) []corev1.Pod {
	return values(indexed[*corev1.Pod](s.pods, byWorkflow, name))
}

// Job gives the Job of a build.
func (s *sources) Job(name string) *batchv1.Job {
	object, exists, err := s.jobs.GetStore().GetByKey(s.namespace + "/" + name)
	if err != nil || !exists {
		return nil
	}
	job, _ := object.(*batchv1.Job)
	return job
}

// Jobs gives all that build.
func (s *sources) Jobs() []*batchv1.Job { return only[*batchv1.Job](s.jobs.GetStore().List()) }

// BuildPods gives the pods of the Jobs of a build's name.
func (s *sources) BuildPods(name string) []corev1.Pod {
	return values(indexed[*corev1.Pod](s.buildPods, byBuild, name))
}

func indexed[T any](of cache.SharedIndexInformer, index, value string) []T {
	objects, err := of.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil // the index is made with the informer
	}
	return only[T](objects)
}

func only[T any](objects []any) []T {
	var all []T
	for _, object := range objects {
		if is, ok := object.(T); ok {
			all = append(all, is)
		}
	}
	return all
}

func values[T any](pointers []*T) []T {
	all := make([]T, len(pointers))
	for i, p := range pointers {
		all[i] = *p
	}
	return all
}
