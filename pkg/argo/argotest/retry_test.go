package argotest

import (
	"encoding/json"
	"strconv"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/expr/argoexpr"
	"github.com/argoproj/argo-workflows/v3/util/expr/env"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/runhook/runhook/pkg/run"
)

// ended is how an attempt ended, in Argo's words as seen on a real cluster.
type ended struct{ status, exitCode, message string }

var (
	exit1       = ended{"Failed", "1", "Error (exit code 1)"}
	oom         = ended{"Failed", "137", "OOMKilled (exit code 137)"}
	killed      = ended{"Failed", "137", "Error (exit code 137)"}
	terminated  = ended{"Failed", "143", "Error (exit code 143)"}
	deadline    = ended{"Failed", "143", "Pod was active on the node longer than the specified deadline"}
	deleted     = ended{"Error", "-1", "pod deleted"}
	pressure    = ended{"Failed", "-1", "The node was low on resource: memory. "}
	shutdown    = ended{"Failed", "-1", "Pod was terminated in response to imminent node shutdown."}
	collected   = ended{"Failed", "-1", "can't find failed message for pod fit-task-fit-3965780559 namespace runs"}
	imageFailed = ended{"Failed", "-1", "failed to pull image"}
)

// retried asks Argo's evaluator, with the values that its controller gives.
func retried(t *testing.T, template *wfv1.Template, attempt int, end ended) bool {
	t.Helper()
	again, err := argoexpr.EvalBool(template.RetryStrategy.Expression, env.GetFuncMap(map[string]any{
		"retries": strconv.Itoa(attempt), "lastRetry.exitCode": end.exitCode, "lastRetry.status": end.status,
		"lastRetry.duration": "1", "lastRetry.message": end.message,
	}))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// program renders a task with one program and gives its template.
func program(t *testing.T, p run.Program) *wfv1.Template {
	t.Helper()
	p.Command = []string{"x"}
	workflow := render(t, &run.Run{ID: "retry", Image: "registry/x", Tasks: []run.Task{{ID: "a", Program: p}}})
	return workflow.GetTemplateByName("task-a")
}

func TestWhatIsRetried(t *testing.T) {
	final := program(t, run.Program{})
	twice := program(t, run.Program{Retry: &run.Retry{Failures: 2}})
	memory := program(t, run.Program{MaxMemory: "1Gi"})
	both := program(t, run.Program{MaxMemory: "1Gi", Retry: &run.Retry{Failures: 2}})
	for name, tc := range map[string]struct {
		template *wfv1.Template
		attempt  int // index of the attempt that ended
		end      ended
		want     bool
	}{
		"interrupted, deleted":               {final, 29, deleted, true},
		"interrupted, terminated":            {final, 29, terminated, true},
		"interrupted, killed":                {final, 29, killed, true},
		"interrupted, node pressure":         {final, 29, pressure, true},
		"interrupted, node shutdown":         {final, 29, shutdown, true},
		"interrupted, never ran":             {final, 29, collected, true},
		"deadline is none":                   {final, 0, deadline, false},
		"failed":                             {final, 0, exit1, false},
		"image":                              {final, 0, imageFailed, false},
		"out of memory":                      {final, 0, oom, false},
		"first failure of two":               {twice, 0, exit1, true},
		"second failure of two":              {twice, 1, exit1, true},
		"third":                              {twice, 2, exit1, false},
		"failed after interruptions":         {twice, 7, exit1, false},
		"out of memory is no failure":        {twice, 0, oom, false},
		"out of memory, more to give":        {memory, 0, oom, true},
		"again, the last":                    {memory, 2, oom, true},
		"out of memory too often":            {memory, 3, oom, false},
		"failed with more memory to give":    {memory, 0, exit1, false},
		"both, out of memory after failures": {both, 4, oom, true},
		"both, too often":                    {both, 5, oom, false},
		"both, failed":                       {both, 1, exit1, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := retried(t, tc.template, tc.attempt, tc.end); got != tc.want {
				t.Errorf("retried: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestMoreMemoryAfterAKillForMemory(t *testing.T) {
	template := program(t, run.Program{Resources: map[string]run.Quantity{"memory": "64Mi", "cpu": "1"}, MaxMemory: "256Mi"})
	for _, tc := range []struct {
		last ended
		want string
	}{{ended{}, "64Mi"}, {oom, "256Mi"}, {killed, "64Mi"}, {deleted, "64Mi"}} {
		made := pod(t, template, wfv1.Arguments{}, "1", tc.last.message)
		made.Container.Name = "main"
		spec, err := json.Marshal(corev1.PodSpec{Containers: []corev1.Container{{Name: "wait"}, *made.Container}})
		if err != nil {
			t.Fatal(err)
		}
		patched, err := strategicpatch.StrategicMergePatch(spec, []byte(made.PodSpecPatch), corev1.PodSpec{})
		if err != nil {
			t.Fatal(err)
		}
		var got corev1.PodSpec
		if err := json.Unmarshal(patched, &got); err != nil {
			t.Fatal(err)
		}
		for _, c := range got.Containers {
			if c.Name != "main" {
				continue
			}
			if c.Resources.Requests.Memory().String() != tc.want || c.Resources.Limits.Memory().String() != tc.want || c.Resources.Requests.Cpu().String() != "1" {
				t.Errorf("after %q it gets %+v, want %s", tc.last.message, c.Resources, tc.want)
			}
		}
	}
}
