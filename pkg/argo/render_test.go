package argo

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/run"
)

var update = flag.Bool("update", false, "write what is given to testdata")

var registry = image.Registry{Host: "registry.lab:5000", PlainHTTP: true, Auth: "registry-login"}

var policy = run.Policy{
	Priorities:  []string{"high"},
	Resources:   corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
	VolumeKinds: []string{"persistentVolumeClaim", "emptyDir"},
	Claims:      []string{"runs"},
	Secrets:     []string{"wandb"},
	Registry:    registry,
	GitHosts:    image.GitHosts{TLS: []string{"git.lab"}},
}

// options are the config's defaults, with every optional part set.
var options = Options{
	Namespace: "runs", Workers: "simrun/worker=true", Reservation: "simrun/reserved", PodLabel: "simrun/run",
	ServiceAccount: "runner", Retries: 30, TTL: 72 * time.Hour, PodGC: "OnPodSuccess",
	Priorities:         map[string]Priority{"high": {Class: "high", Extra: "high-extra"}},
	SecurityContext:    &corev1.SecurityContext{AllowPrivilegeEscalation: new(false)},
	PodSecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true)},
	ImagePullSecrets:   []corev1.LocalObjectReference{{Name: "pull"}},
	Build:              image.Settings{Registry: registry, Address: "tcp://buildkitd:1234", Image: "registry.lab:5000/buildkit:1", Timeout: 30 * time.Minute},
	Key:                "4c0f", Caller: "hook:acme/train", Source: `{"route":"acme/train","ref":"refs/heads/{{main}}"}`, RefHash: "9b1d",
}

// load reads, checks and fills a run of testdata.
func load(t testing.TB, file string) *run.Run {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(policy); err != nil {
		t.Fatal(err)
	}
	return r.Fill(policy)
}

// golden compares an object with a file, or writes it.
func golden(t *testing.T, file string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

func TestRender(t *testing.T) {
	files, err := filepath.Glob("testdata/*.run.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d runs: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".run.yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			o := options
			if name == "testdata/minimal" {
				o = Options{Namespace: "runs", Workers: options.Workers, Reservation: options.Reservation, ServiceAccount: "runner", Retries: 30, TTL: options.TTL}
			}
			workflow, err := Render(load(t, file), o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".workflow.yaml", workflow)
		})
	}
}

func TestTheBuildIsLeftOutWhenItsImageIsThere(t *testing.T) {
	r, o := load(t, "testdata/build.run.yaml"), options
	o.ImageExists = true
	workflow, err := Render(r, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range workflow.Spec.Templates {
		if template.Name == "task-build" || len(template.Volumes) > 0 {
			t.Errorf("the template %s is there", template.Name)
		}
		if template.DAG == nil {
			continue
		}
		for _, task := range template.DAG.Tasks {
			if task.Name == "build" || cmp.Equal(task.Dependencies, []string{"build"}) {
				t.Errorf("%s needs %v", task.Name, task.Dependencies)
			}
		}
	}
}

func TestOnlyTheBuildSeesTheRegistrysSecret(t *testing.T) {
	workflow, err := Render(load(t, "testdata/build.run.yaml"), options)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, template := range workflow.Spec.Templates {
		for _, volume := range append(template.Volumes, workflow.Spec.Volumes...) {
			if volume.Secret == nil {
				continue
			}
			seen++
			if template.Name != "task-build" || volume.Secret.SecretName != "registry-login" {
				t.Errorf("%s mounts the Secret %s", template.Name, volume.Secret.SecretName)
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d templates mount a Secret", seen)
	}
}

func TestTooLargeAWorkflow(t *testing.T) {
	r := &run.Run{ID: "large", Image: "x", Params: map[string]string{"message": strings.Repeat("x", 100<<10)}}
	for _, id := range strings.Fields("a b c d e f g h i") {
		r.Tasks = append(r.Tasks, run.Task{ID: id})
	}
	if _, err := Render(r, options); err != nil {
		t.Errorf("9 tasks with 100 KiB each: %v", err)
	}
	for _, id := range strings.Fields("k l m") {
		r.Tasks = append(r.Tasks, run.Task{ID: id})
	}
	if _, err := Render(r, options); fault.KindOf(err) != fault.Invalid {
		t.Errorf("12 tasks with 100 KiB each: %v", err)
	}
}

// crowd is the largest run there may be.
func crowd() *run.Run {
	return &run.Run{ID: "crowd", Queue: "research", Image: "registry.lab:5000/x", Tasks: []run.Task{{
		ID: "fit", Program: run.Program{Command: []string{"python", "fit.py"}, MaxMemory: "2Gi"}, Nodes: []string{"n1", "n2"},
		Split: &run.Split{Workers: limits.Workers, Extra: 10, Merge: &run.Program{Command: []string{"python", "merge.py"}}},
	}}}
}

func TestTheMostWorkersFit(t *testing.T) {
	r := crowd()
	if err := r.Check(policy); err != nil {
		t.Fatal(err)
	}
	workflow, err := Render(r.Fill(policy), options)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(workflow.Spec.Templates); got != 4 {
		t.Errorf("%d templates", got)
	}
	text, err := yaml.Marshal(workflow)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > limits.Workflow/4 {
		t.Errorf("it takes %d bytes, which leaves its status too little", len(text))
	}
}

func TestUncheckedRunsDoNotPanic(t *testing.T) {
	for _, r := range []*run.Run{
		{},
		{Tasks: []run.Task{{Split: &run.Split{Workers: -1, Merge: &run.Program{}}, Nodes: []string{""}}}},
		{Tasks: []run.Task{{Program: run.Program{Resources: map[string]run.Quantity{"memory": "x", "": ""}, MaxMemory: "y", Retry: &run.Retry{Failures: -3, Backoff: "z"}}}}},
		{Deadline: "soon", Build: &run.Build{}},
		{Tasks: []run.Task{{Split: &run.Split{Workers: 1 << 40}}}},
	} {
		if workflow, err := Render(r, options); err == nil && workflow == nil {
			t.Error("neither a Workflow nor an error")
		}
		_, _ = Render(r, Options{})
	}
}

func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("testdata/*.run.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := json.Marshal(load(f, file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := run.Decode(data)
		if err != nil {
			return
		}
		good := r.Check(policy) == nil
		workflow, err := Render(r.Fill(policy), options)
		if good && err != nil && !strings.Contains(err.Error(), "bytes as a Workflow") {
			t.Errorf("good, but not rendered: %v", err)
		}
		if !good || err != nil {
			return
		}
		for task, allowed := range Helpers(workflow.Annotations) {
			if allowed == 0 {
				continue
			}
			if _, err := Extra(workflow, task, allowed-1, 0, "low"); err != nil {
				t.Errorf("helper %d of %s: %v", allowed-1, task, err)
			}
		}
	})
}

func BenchmarkRender(b *testing.B) {
	r := crowd().Fill(policy)
	for b.Loop() {
		if _, err := Render(r, options); err != nil {
			b.Fatal(err)
		}
	}
}
