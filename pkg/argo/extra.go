package argo

import (
	"encoding/json"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// Helpers reads how many helpers each split task of a Workflow may have. A
// Workflow without split tasks has none, nor has a foreign one.
func Helpers(annotations map[string]string) map[string]int {
	var helpers map[string]int
	if json.Unmarshal([]byte(annotations[HelpersAnnotation]), &helpers) != nil {
		return nil // somebody wrote over it
	}
	for task, n := range helpers {
		helpers[task] = min(max(n, 0), limits.Workers) // as when the run was checked
	}
	return helpers
}

// Extra gives the Workflow of helper n of a split task: the task's worker
// alone, with a lower priority class and what remains of the run's deadline
// (0: the run has none). It is made from the run's Workflow, which is all that
// the cluster keeps of a run.
//
// A helper sees RUNHOOK_EXTRA=true and its own number as RUNHOOK_WORKER. Where
// workers are pinned it stands on the node of worker n, counted round.
func Extra(parent *wfv1.Workflow, task string, n int, remaining time.Duration, class string) (*wfv1.Workflow, error) {
	allowed, split := Helpers(parent.Annotations)[task]
	template := parent.GetTemplateByName(workerTemplate(task))
	graph := parent.GetTemplateByName("split-" + task)
	if !split || template == nil || template.Container == nil || graph == nil || graph.DAG == nil {
		return nil, fault.New(fault.Conflict, "the run %s has no split task %s", parent.Name, task)
	}
	if n < 0 || n >= allowed {
		return nil, fault.New(fault.Invalid, "the task %s may have %d helpers: its split.extra says so", task, allowed)
	}
	template = template.DeepCopy()
	template.Metadata.Labels = with(template.Metadata.Labels, WorkerLabel, "extra-"+itoa(n))
	for i := range template.Container.Env {
		if template.Container.Env[i].Name == extraEnv {
			template.Container.Env[i].Value = "true"
		}
	}
	spec := parent.Spec.DeepCopy()
	spec.Entrypoint, spec.Templates, spec.Shutdown, spec.Suspend = template.Name, []wfv1.Template{*template}, "", nil
	spec.Arguments = helperArguments(graph.DAG, n)
	spec.ActiveDeadlineSeconds = nil
	if remaining > 0 {
		spec.ActiveDeadlineSeconds = new(int64((remaining + time.Second - 1) / time.Second))
	}
	if class != "" && spec.PodMetadata != nil {
		spec.PodMetadata.Labels = with(spec.PodMetadata.Labels, PriorityLabel, class)
	}
	helper := &wfv1.Workflow{TypeMeta: parent.TypeMeta, ObjectMeta: helperMeta(parent, task, n), Spec: *spec}
	return helper, bounded(helper)
}

// with sets a label, where somebody may have taken all labels away.
func with(labels map[string]string, key, value string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}

func helperMeta(parent *wfv1.Workflow, task string, n int) metav1.ObjectMeta {
	id := parent.Labels[RunLabel]
	return metav1.ObjectMeta{
		Name:      run.HelperName(id, task, n),
		Namespace: parent.Namespace,
		Labels: filled(map[string]string{
			owner.ManagedBy: owner.Name,
			RunLabel:        id,
			RefLabel:        parent.Labels[RefLabel],
			TaskLabel:       task,
			ExtraOfLabel:    id,
			ExtraLabel:      itoa(n),
		}),
		Annotations: filled(map[string]string{owner.Annotation: parent.Annotations[owner.Annotation]}),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(parent, wfv1.SchemeGroupVersion.WithKind("Workflow")),
		},
	}
}

// helperArguments are those of worker n, counted round, with the helper's own number.
func helperArguments(graph *wfv1.DAGTemplate, n int) wfv1.Arguments {
	var workers []wfv1.Arguments
	for _, task := range graph.Tasks {
		if len(task.Arguments.Parameters) > 0 { // the merge has none
			workers = append(workers, task.Arguments)
		}
	}
	if len(workers) == 0 {
		return wfv1.Arguments{}
	}
	arguments := *workers[n%len(workers)].DeepCopy()
	for i := range arguments.Parameters {
		if arguments.Parameters[i].Name == workerInput {
			arguments.Parameters[i].Value = wfv1.AnyStringPtr(n)
		}
	}
	return arguments
}
