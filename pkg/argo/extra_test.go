package argo

import (
	"maps"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// parent is a run's Workflow as the cluster has it.
func parent(t *testing.T, name string) *wfv1.Workflow {
	t.Helper()
	workflow, err := Render(load(t, "testdata/"+name+".run.yaml"), options)
	if err != nil {
		t.Fatal(err)
	}
	workflow.UID = "5dca919c"
	workflow.ResourceVersion = "7"
	workflow.Labels["workflows.argoproj.io/phase"] = "Running"
	workflow.Status.Phase = wfv1.WorkflowRunning
	return workflow
}

func TestExtra(t *testing.T) {
	workflow := parent(t, "everything")
	before := workflow.DeepCopy()
	helper, err := Extra(workflow, "fit", 1, 90*time.Minute+time.Millisecond, "high-extra")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/everything.helper.yaml", helper)
	if workflow.Labels["runhook/run"] != before.Labels["runhook/run"] || !maps.Equal(workflow.Spec.PodMetadata.Labels, before.Spec.PodMetadata.Labels) ||
		workflow.GetTemplateByName("worker-fit").Metadata.Labels[WorkerLabel] != before.GetTemplateByName("worker-fit").Metadata.Labels[WorkerLabel] {
		t.Error("the run's Workflow was changed")
	}
}

// What a person did to the run is not done to the helper.
func TestExtraIsNeitherStoppedNorSuspended(t *testing.T) {
	workflow := parent(t, "split")
	workflow.Spec.Shutdown = wfv1.ShutdownStrategyStop
	workflow.Spec.Suspend = new(true)
	helper, err := Extra(workflow, "fit", 0, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if helper.Spec.Shutdown != "" || helper.Spec.Suspend != nil || helper.Spec.ActiveDeadlineSeconds != nil {
		t.Errorf("it has %q, %v, %v", helper.Spec.Shutdown, helper.Spec.Suspend, helper.Spec.ActiveDeadlineSeconds)
	}
	if got := helper.Spec.PodMetadata.Labels[PriorityLabel]; got != "high" {
		t.Errorf("without a lower class it has %q, want the run's", got)
	}
}

func TestExtraOfAWorkflowWithoutLabels(t *testing.T) {
	workflow := parent(t, "split")
	workflow.Spec.PodMetadata.Labels = nil
	for i := range workflow.Spec.Templates {
		workflow.Spec.Templates[i].Metadata.Labels = nil
	}
	helper, err := Extra(workflow, "fit", 1, 0, "low")
	if err != nil {
		t.Fatal(err)
	}
	if got := helper.Spec.Templates[0].Metadata.Labels[WorkerLabel] + " " + helper.Spec.PodMetadata.Labels[PriorityLabel]; got != "extra-1 low" {
		t.Errorf("got %s", got)
	}
}

func TestExtraIsRefused(t *testing.T) {
	workflow := parent(t, "split")
	foreign := parent(t, "split")
	foreign.Annotations = nil
	broken := parent(t, "split")
	broken.Annotations[HelpersAnnotation] = "{"
	for name, tc := range map[string]struct {
		workflow *wfv1.Workflow
		task     string
		n        int
		want     fault.Kind
	}{
		"more than allowed":      {workflow, "fit", 2, fault.Invalid},
		"below none":             {workflow, "fit", -1, fault.Invalid},
		"not split":              {workflow, "fetch", 0, fault.Conflict},
		"no such task":           {workflow, "nothing", 0, fault.Conflict},
		"a foreign Workflow":     {foreign, "fit", 0, fault.Conflict},
		"a broken annotation":    {broken, "fit", 0, fault.Conflict},
		"an empty Workflow":      {&wfv1.Workflow{}, "fit", 0, fault.Conflict},
		"the templates are gone": {&wfv1.Workflow{ObjectMeta: workflow.ObjectMeta}, "fit", 0, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Extra(tc.workflow, tc.task, tc.n, 0, ""); fault.KindOf(err) != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// An annotation can be written by others: a number must not fill the memory.
func TestHelpersAreBounded(t *testing.T) {
	for text, want := range map[string]map[string]int{
		`{"fit": 1000000000, "b": -3, "c": 2}`: {"fit": limits.Workers, "b": 0, "c": 2},
		`{"fit": 1e99}`:                        nil, `["fit"]`: nil, `null`: nil, ``: nil,
	} {
		if got := Helpers(map[string]string{HelpersAnnotation: text}); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func FuzzHelpers(f *testing.F) {
	f.Add(`{"fit": 2}`)
	f.Fuzz(func(t *testing.T, text string) {
		for task, n := range Helpers(map[string]string{HelpersAnnotation: text}) {
			if n < 0 || n > limits.Workers {
				t.Errorf("%q may have %d", task, n)
			}
		}
	})
}

func TestHelpers(t *testing.T) {
	if got := Helpers(parent(t, "split").Annotations); !maps.Equal(got, map[string]int{"fit": 2}) {
		t.Errorf("got %v", got)
	}
	if got := Helpers(parent(t, "minimal").Annotations); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
