package argo

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// entrypoint is the template of the run's graph. Every other template's name
// begins with its kind and a hyphen, so that no id of a task can meet one.
const entrypoint = "run"

// Render gives the Workflow of a run that was checked and filled.
func Render(r *run.Run, o Options) (*wfv1.Workflow, error) {
	render := renderer{r, o}
	build, err := render.building()
	if err != nil {
		return nil, err
	}
	templates, err := render.templates(build)
	if err != nil {
		return nil, err
	}
	workflow := &wfv1.Workflow{
		TypeMeta: metav1.TypeMeta{APIVersion: wfv1.SchemeGroupVersion.String(), Kind: "Workflow"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        r.ID,
			Namespace:   o.Namespace,
			Labels:      filled(map[string]string{owner.ManagedBy: owner.Name, RunLabel: r.ID, RefLabel: o.RefHash}),
			Annotations: annotations(r, o),
		},
		Spec: wfv1.WorkflowSpec{
			Entrypoint:   entrypoint,
			Templates:    templates,
			PodMetadata:  &wfv1.Metadata{Labels: podLabels(r, o)},
			Volumes:      r.Volumes,
			NodeSelector: nodeSelector(r, o),
			Tolerations:  tolerations(r, o),
			// The executor alone gets a token: what a run runs has no right on the cluster.
			AutomountServiceAccountToken: new(false),
			ServiceAccountName:           o.ServiceAccount,
			Executor:                     &wfv1.ExecutorConfig{ServiceAccountName: o.ServiceAccount},
			SecurityContext:              o.PodSecurityContext,
			ImagePullSecrets:             o.ImagePullSecrets,
			ActiveDeadlineSeconds:        deadline(r.Deadline),
		},
	}
	if o.TTL > 0 {
		workflow.Spec.TTLStrategy = &wfv1.TTLStrategy{SecondsAfterCompletion: new(int32(o.TTL / time.Second))}
	}
	if o.PodGC != "" {
		workflow.Spec.PodGC = &wfv1.PodGC{Strategy: wfv1.PodGCStrategy(o.PodGC)}
	}
	if build != nil {
		workflow.Labels[image.BuildLabel], workflow.Annotations[image.RefAnnotation] = build.Name(), build.Ref.String()
	}
	return workflow, bounded(workflow)
}

// bounded refuses a Workflow that etcd would not take, or that has no room for
// its status.
func bounded(workflow *wfv1.Workflow) error {
	data, err := json.Marshal(workflow)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the run cannot be written as a Workflow")
	}
	if len(data) > limits.Workflow {
		return fault.New(fault.Invalid, "the run has %d bytes as a Workflow, and at most %d are taken: params and env are written into every task, so put long texts into a file of the image or a volume, or use fewer tasks", len(data), limits.Workflow)
	}
	return nil
}

func annotations(r *run.Run, o Options) map[string]string {
	helpers := map[string]int{}
	for i := range r.Tasks {
		if split := r.Tasks[i].Split; split != nil {
			helpers[r.Tasks[i].ID] = split.Extra
		}
	}
	text := ""
	if len(helpers) > 0 {
		data, _ := json.Marshal(helpers) // cannot fail on this type
		text = string(data)
	}
	return filled(map[string]string{
		KeyAnnotation:      o.Key,
		owner.Annotation:   o.Caller,
		SourceAnnotation:   o.Source,
		PriorityAnnotation: r.Priority,
		HelpersAnnotation:  text,
	})
}

func podLabels(r *run.Run, o Options) map[string]string {
	labels := map[string]string{
		owner.ManagedBy: owner.Name,
		RunLabel:        r.ID,
		QueueLabel:      r.Queue,
		PriorityLabel:   o.Priorities[r.Priority].Class,
	}
	if o.PodLabel != "" {
		labels[o.PodLabel] = r.ID
	}
	return filled(labels)
}

func nodeSelector(r *run.Run, o Options) map[string]string {
	selector := map[string]string{}
	if key, value, ok := strings.Cut(o.Workers, "="); ok {
		selector[key] = value
	}
	if r.Reserved {
		selector[o.Reservation] = r.ID
	}
	return selector
}

func tolerations(r *run.Run, o Options) []corev1.Toleration {
	if !r.Reserved {
		return nil
	}
	return []corev1.Toleration{{
		Key: o.Reservation, Operator: corev1.TolerationOpEqual, Value: r.ID, Effect: corev1.TaintEffectNoExecute,
	}}
}

// deadline counts in whole seconds, begun ones too.
func deadline(d run.Duration) *int64 {
	parsed, ok := d.Parse()
	if !ok {
		return nil
	}
	return new(int64((parsed + time.Second - 1) / time.Second))
}

// filled drops what is empty.
func filled(texts map[string]string) map[string]string {
	for key, text := range texts {
		if text == "" {
			delete(texts, key)
		}
	}
	return texts
}

func itoa(n int) string { return strconv.Itoa(n) }
