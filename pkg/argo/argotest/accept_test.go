package argotest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
)

// Every run that Check takes is a Workflow that Argo takes, and so are its
// helpers.
func TestArgoTakesEveryGoodRun(t *testing.T) {
	for seed := range uint64(300) {
		r := anyRun(rand.New(rand.NewPCG(seed, 7)))
		workflow := render(t, r)
		if err := accepted(workflow); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for task, allowed := range argo.Helpers(workflow.Annotations) {
			for n := range allowed {
				helper, err := argo.Extra(workflow, task, n, 0, "low")
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if err := accepted(helper); err != nil {
					t.Fatalf("seed %d: helper %d of %s: %v", seed, n, task, err)
				}
			}
		}
	}
}

// anyRun makes a good run with a bit of everything.
func anyRun(random *rand.Rand) *run.Run {
	text := func() string { return hostile[random.IntN(len(hostile))] }
	coin := func() bool { return random.IntN(2) == 0 }
	program := func() run.Program {
		p := run.Program{Args: []string{text()}, Command: []string{"x"}}
		if coin() {
			p.Env = map[string]run.EnvValue{"A": {Text: text()}, "B": {Secret: &run.SecretKey{Secret: "wandb", Key: "token"}}}
		}
		if coin() {
			p.Resources, p.MaxMemory = map[string]run.Quantity{"memory": "64Mi", "nvidia.com/gpu": "1"}, "1Gi"
		}
		if coin() {
			p.Retry = &run.Retry{Failures: random.IntN(4), Backoff: "30s"}
		}
		if coin() {
			p.Mounts = []run.Mount{{Name: "scratch", Path: "/scratch", ReadOnly: coin()}}
		}
		return p
	}
	r := &run.Run{
		ID: "any", Image: "registry/x", Reserved: coin(), Params: map[string]string{"a.b": text(), "c": text()},
		Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
	if coin() {
		r.Queue, r.Priority, r.Deadline = "research", "normal", "90m"
	}
	if coin() {
		r.Build = &run.Build{Ref: "registry/acme/x:1", Git: image.Git{URL: "https://git.lab/acme/x.git", SHA: "0123456789012345678901234567890123456789"}}
	}
	ids := []string{"a7", "run", "a", "worker-a", "task-a", "split-a", "a-00", "main"} // names that templates might clash with
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i, id := range ids[:1+random.IntN(len(ids))] {
		task := run.Task{ID: id, Program: program()}
		for _, earlier := range ids[:i] {
			if random.IntN(3) == 0 {
				task.Needs = append(task.Needs, earlier)
			}
		}
		if coin() {
			task.Split = &run.Split{Workers: 1 + random.IntN(9), Extra: random.IntN(3)}
			if coin() {
				merge := program()
				merge.Resources = map[string]run.Quantity{"memory": "64Mi"}
				task.Split.Merge = &merge
			}
		}
		if coin() {
			task.Nodes = []string{"n1"}
			if task.Split != nil {
				task.Nodes = []string{"n1", "n2.lab"}
			}
		}
		r.Tasks = append(r.Tasks, task)
	}
	return r
}

// A worker's template is one for all; what Argo makes of it is each one's own.
func TestEveryWorkerIsItself(t *testing.T) {
	r := &run.Run{ID: "w", Image: "registry/x", Tasks: []run.Task{{
		ID: "fit", Program: run.Program{Command: []string{"x"}}, Nodes: []string{"n1", "n2", "n3"}, Split: &run.Split{Workers: 5, Extra: 7},
	}}}
	workflow := render(t, r)
	for i, task := range workflow.GetTemplateByName("split-fit").DAG.Tasks {
		if task.Name != fmt.Sprintf("fit-%d", i) {
			t.Errorf("worker %d is called %s", i, task.Name)
		}
		template := pod(t, workflow.GetTemplateByName(task.Template), task.Arguments, "0", "")
		env, _ := kubelet(template.Container)
		if env["RUNHOOK_WORKER"] != fmt.Sprint(i) || env["RUNHOOK_WORKERS"] != "5" || env["RUNHOOK_EXTRA"] != "false" || env["RUNHOOK_TASK"] != "fit" {
			t.Errorf("worker %d sees %v", i, env)
		}
		if template.Metadata.Labels[argo.WorkerLabel] != fmt.Sprint(i) {
			t.Errorf("worker %d has the labels %v", i, template.Metadata.Labels)
		}
		if got, want := pins(template.Affinity), []string{fmt.Sprintf("n%d", i%3+1)}; !slices.Equal(got, want) {
			t.Errorf("worker %d is pinned to %v, want %v", i, got, want)
		}
	}
	for n := range 7 {
		helper, err := argo.Extra(workflow, "fit", n, 0, "low")
		if err != nil {
			t.Fatal(err)
		}
		// The entrypoint's inputs are the Workflow's arguments.
		template := pod(t, helper.GetTemplateByName(helper.Spec.Entrypoint), helper.Spec.Arguments, "0", "")
		env, _ := kubelet(template.Container)
		if env["RUNHOOK_WORKER"] != fmt.Sprint(n) || env["RUNHOOK_WORKERS"] != "5" || env["RUNHOOK_EXTRA"] != "true" || env["RUNHOOK_RUN"] != "w" {
			t.Errorf("helper %d sees %v", n, env)
		}
		if got, want := pins(template.Affinity), []string{fmt.Sprintf("n%d", n%5%3+1)}; !slices.Equal(got, want) {
			t.Errorf("helper %d is pinned to %v, want %v", n, got, want)
		}
		if got := template.Metadata.Labels[argo.WorkerLabel]; got != fmt.Sprintf("extra-%d", n) {
			t.Errorf("helper %d is labelled %s", n, got)
		}
	}
}

func pins(a *corev1.Affinity) []string {
	if a == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values
}

// What Check lets pass is never moved by Argo to a file that nobody expands.
func TestLongArgumentsStayInThePod(t *testing.T) {
	longest := 0
	for length := 100 << 10; length < 200<<10; length += 1 << 10 {
		r := &run.Run{ID: "long", Image: "registry/x", Tasks: []run.Task{{ID: "a", Program: run.Program{Args: []string{strings.Repeat("$", length/2)}}}}}
		if r.Check(policy) != nil {
			break
		}
		args, err := json.Marshal(render(t, r).GetTemplateByName("task-a").Container.Args)
		if err != nil {
			t.Fatal(err)
		}
		longest = len(args)
	}
	if longest < 100<<10 || longest > common.MaxEnvVarLen {
		t.Errorf("args of %d bytes pass; Argo moves those over %d", longest, common.MaxEnvVarLen)
	}
}
