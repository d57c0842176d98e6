package argo

import (
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/run"
)

// renderer makes the templates of one run.
type renderer struct {
	run     *run.Run
	options Options
}

// templates are the graph, then what its tasks are made of, in their order. The
// build is the one that goes before them, if any.
func (r renderer) templates(build *image.Build) ([]wfv1.Template, error) {
	graph := &wfv1.DAGTemplate{}
	templates := []wfv1.Template{{Name: entrypoint, DAG: graph}}
	if build != nil {
		template := r.build(*build)
		graph.Tasks = append(graph.Tasks, wfv1.DAGTask{Name: run.BuildTask, Template: template.Name})
		templates = append(templates, template)
	}
	for i := range r.run.Tasks {
		t := &r.run.Tasks[i]
		made, err := r.task(t)
		if err != nil {
			return nil, err
		}
		graph.Tasks = append(graph.Tasks, wfv1.DAGTask{Name: t.ID, Template: made[0].Name, Dependencies: r.needs(t, build != nil)})
		templates = append(templates, made...)
	}
	return templates, nil
}

// needs are a task's dependencies; what needs nothing needs the build.
func (r renderer) needs(t *run.Task, builds bool) []string {
	if r.run.Build == nil {
		return t.Needs
	}
	needs := slices.DeleteFunc(slices.Clone(t.Needs), func(need string) bool { return need == run.BuildTask })
	if builds && len(needs) == 0 {
		return []string{run.BuildTask}
	}
	return needs
}

// task gives a task's templates; the first one stands in the run's graph.
func (r renderer) task(t *run.Task) ([]wfv1.Template, error) {
	if t.Split != nil {
		return r.split(t)
	}
	template := r.container("task-"+t.ID, &t.Program, r.env(t.ID, &t.Program))
	template.Metadata.Labels = map[string]string{TaskLabel: t.ID}
	if len(t.Nodes) > 0 {
		template.Affinity = pinned(t.Nodes[0])
	}
	return []wfv1.Template{template}, nil
}

// Inputs of a worker's template, the only live text in it beside the number
// of the attempt. All workers of a task share one template: a thousand of
// them would not fit a Workflow.
const (
	workerInput = "worker"
	nodeInput   = "node"
)

// split is a graph of workers and their merge.
func (r renderer) split(t *run.Task) ([]wfv1.Template, error) {
	if t.Split.Workers > limits.Workers {
		return nil, fault.New(fault.Invalid, "the task %s has %d workers; at most %d are taken", t.ID, t.Split.Workers, limits.Workers)
	}
	worker := r.worker(t)
	graph := &wfv1.DAGTemplate{}
	workers := make([]string, 0, max(t.Split.Workers, 0))
	for i := range t.Split.Workers {
		id := run.WorkerID(t.ID, i)
		workers = append(workers, id)
		graph.Tasks = append(graph.Tasks, wfv1.DAGTask{Name: id, Template: worker.Name, Arguments: arguments(t, i)})
	}
	templates := []wfv1.Template{{Name: "split-" + t.ID, DAG: graph}, worker}
	if t.Split.Merge == nil {
		return templates, nil
	}
	merge := r.merge(t)
	graph.Tasks = append(graph.Tasks, wfv1.DAGTask{Name: run.MergeID(t.ID), Template: merge.Name, Dependencies: workers})
	return append(templates, merge), nil
}

func (r renderer) worker(t *run.Task) wfv1.Template {
	input := "{{inputs.parameters." + workerInput + "}}"
	env := r.env(t.ID, &t.Program, literal("RUNHOOK_WORKER", input), literal("RUNHOOK_WORKERS", itoa(t.Split.Workers)), literal(extraEnv, "false"))
	template := r.container(workerTemplate(t.ID), &t.Program, env)
	template.Metadata.Labels = map[string]string{TaskLabel: t.ID, WorkerLabel: input}
	template.Inputs.Parameters = []wfv1.Parameter{{Name: workerInput}}
	if len(t.Nodes) > 0 {
		template.Inputs.Parameters = append(template.Inputs.Parameters, wfv1.Parameter{Name: nodeInput})
		template.Affinity = pinned("{{inputs.parameters." + nodeInput + "}}")
	}
	return template
}

func workerTemplate(task string) string { return "worker-" + task }

func (r renderer) merge(t *run.Task) wfv1.Template {
	env := r.env(t.ID, t.Split.Merge, literal("RUNHOOK_WORKERS", itoa(t.Split.Workers)))
	template := r.container("merge-"+t.ID, t.Split.Merge, env)
	template.Metadata.Labels = map[string]string{TaskLabel: t.ID, WorkerLabel: "merge"}
	return template
}

func arguments(t *run.Task, i int) wfv1.Arguments {
	parameters := []wfv1.Parameter{{Name: workerInput, Value: wfv1.AnyStringPtr(i)}}
	if n := len(t.Nodes); n > 0 {
		parameters = append(parameters, wfv1.Parameter{Name: nodeInput, Value: wfv1.AnyStringPtr(t.Nodes[i%n])})
	}
	return wfv1.Arguments{Parameters: parameters}
}
