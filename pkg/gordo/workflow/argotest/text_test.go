package argotest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/workflow"
)

// hostile is text that Argo, Kubernetes, YAML or JSON would change if they met
// it live.
var hostile = []string{
	"{{workflow.name}}", "{{inputs.parameters.machine}}", "{{=1+1}}", "{{='{{'}}workflow.name}}", "{", "{{", "{{{", "}}", "{\\u007b{",
	"$(id)", "$$", "$(PROJECT_NAME)", "$(RUNHOOK_BRACE)", "${HOME}", "on", "12", "null", "~", "1:30", "2020-01-01", "",
	"emoji 🚀, accents é, \u2028", "first\nsecond\r\nthird\n", `"double" 'single'`, `back\slash \n \u0041`, "<a href='x'>&amp;</a>", "__argo__internal__placeholder-1",
}

// project makes the one Workflow of a project whose machine holds a text.
func document(t *testing.T, name, text, variable string) *wfv1.Workflow {
	t.Helper()
	machine := map[string]any{
		"name": name, "model": map[string]any{"sklearn.preprocessing.MinMaxScaler": map[string]any{}},
		"metadata": map[string]any{"text": text, text + "key": text},
		"dataset": map[string]any{
			"type": "RandomDataset", "train_start_date": "2021-03-01T00:00:00Z", "train_end_date": "2021-09-01T00:00:00Z",
			"tags": []any{text + "tag"}, "row_filter": text,
		},
	}
	globals := map[string]any{"runtime": map[string]any{"builder": map[string]any{"env": []any{map[string]any{"name": "TEXT", "value": variable}}}}}
	config, err := yaml.Marshal(map[string]any{"machines": []any{machine}, "globals": globals})
	if err != nil {
		t.Fatal(err)
	}
	o, err := gordo.ParseOptions(func(f gordo.Flag) (string, bool) {
		v, ok := map[string]string{"project-name": "p", "project-revision": "1"}[f.Name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := gordo.Load(config)
	if err != nil {
		t.Fatalf("%v in\n%s", err, config)
	}
	project, err := gordo.Normalize(read, o.Normal())
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	plan, err := workflow.New(project, o, 3)
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range plan.Documents() {
		if err != nil {
			t.Fatal(err)
		}
		return d.Workflow()
	}
	t.Fatal("no Workflow was made")
	return nil
}

var globals = common.Parameters{"workflow.name": "REPLACED", "workflow.uid": "REPLACED", "workflow.namespace": "REPLACED"}

// processed gives a template with its inputs, as Argo makes it.
func processed(t *testing.T, w *wfv1.Workflow, name string, arguments wfv1.Arguments) *wfv1.Template {
	t.Helper()
	template, err := common.ProcessArgs(w.GetTemplateByName(name), &arguments, globals, common.Parameters{}, false, "runs", nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if template, err = common.SubstituteParams(template, globals, common.Parameters{"pod.name": "REPLACED"}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return template
}

func task(t *testing.T, w *wfv1.Workflow, name string) wfv1.DAGTask {
	t.Helper()
	for _, task := range w.GetTemplateByName("do-all").DAG.Tasks {
		if task.Name == name {
			return task
		}
	}
	t.Fatalf("there is no task %s", name)
	return wfv1.DAGTask{}
}

// kubelet gives the environment of a container by Kubernetes' rule: `$(NAME)`
// becomes the value of a variable before it, `$$` becomes `$`.
func kubelet(template *wfv1.Template) map[string]string {
	env := map[string]string{}
	for _, e := range template.Container.Env {
		value, rest := "", e.Value
		for rest != "" {
			end := strings.IndexByte(rest, ')')
			switch {
			case strings.HasPrefix(rest, "$$"):
				value, rest = value+"$", rest[2:]
			case strings.HasPrefix(rest, "$(") && end > 0:
				if known, ok := env[rest[2:end]]; ok {
					value += known
				} else {
					value += rest[:end+1]
				}
				rest = rest[end+1:]
			default:
				value, rest = value+rest[:1], rest[1:]
			}
		}
		env[e.Name] = value
	}
	return env
}

func TestAMachineArrivesByteForByte(t *testing.T) {
	for _, text := range append(hostile, strings.Join(hostile, "|")) {
		w := document(t, "m", text, "x")
		if err := accepted(w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		env := kubelet(processed(t, w, "model-builder", task(t, w, "model-builder-m").Arguments))
		machine(t, text, env["MACHINE"])
		model := processed(t, w, "gordo-model", task(t, w, "gordo-mdl-m").Arguments)
		apply := processed(t, w, "apply-with-retries", model.Steps[0].Steps[0].Arguments)
		var applied struct {
			Spec struct {
				Config json.RawMessage `json:"config"`
			} `json:"spec"`
		}
		if err := json.Unmarshal([]byte(apply.Resource.Manifest), &applied); err != nil {
			t.Fatalf("%q: the Model is no JSON: %v in %s", text, err, apply.Resource.Manifest)
		}
		machine(t, text, string(applied.Spec.Config))
		if strings.Contains(env["MACHINE"], "REPLACED") {
			t.Errorf("%q was expanded", text)
		}
	}
}

// machine reads a machine as gordo's builder does and looks for the text.
func machine(t *testing.T, text, given string) {
	t.Helper()
	var parts map[string]string
	if err := json.Unmarshal([]byte(given), &parts); err != nil {
		t.Fatalf("%q: %v in %s", text, err, given)
	}
	var metadata struct {
		User struct {
			Machine map[string]string `json:"machine-metadata"`
		} `json:"user_defined"`
	}
	var dataset struct {
		Tags   []string `json:"tag_list"`
		Filter string   `json:"row_filter"`
	}
	if err := json.Unmarshal([]byte(parts["metadata"]), &metadata); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(parts["dataset"]), &dataset); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q", []string{metadata.User.Machine["text"], metadata.User.Machine[text+"key"], dataset.Filter, dataset.Tags[0]})
	if want := fmt.Sprintf("%q", []string{text, text, text, text + "tag"}); got != want {
		t.Errorf("arrived as %s, not %s", got, want)
	}
}

// TestVariablesOfTheBuilder: Argo expands nothing in a value of the config's
// env; what Kubernetes expands there is what a user of Kubernetes expects.
func TestVariablesOfTheBuilder(t *testing.T) {
	for _, text := range []string{"{{workflow.name}}", "{{{x", "{{=1+1}}", "a{{inputs.parameters.machine}}b", "{"} {
		w := document(t, "m", "x", text)
		if err := accepted(w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		env := kubelet(processed(t, w, "model-builder", task(t, w, "model-builder-m").Arguments))
		if env["TEXT"] != text {
			t.Errorf("%q arrived as %q", text, env["TEXT"])
		}
	}
}

func TestNamesThatAreNoTextInYAML(t *testing.T) {
	for _, name := range []string{"12", "on", "null", "0x1f", "1e3", "a.b"} {
		w := document(t, name, "x", "x")
		if err := accepted(w); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		built := processed(t, w, "model-builder", task(t, w, "model-builder-"+strings.ReplaceAll(name, ".", "-")).Arguments)
		if got := built.Metadata.Labels[gordo.LabelModel]; got != name {
			t.Errorf("%q arrived as %q", name, got)
		}
	}
}

// TestArgoRefusesADotInATask is why the names of tasks hold dashes instead.
func TestArgoRefusesADotInATask(t *testing.T) {
	w := document(t, "m", "x", "x")
	do := w.GetTemplateByName("do-all")
	do.DAG.Tasks = append(do.DAG.Tasks, wfv1.DAGTask{Name: "a.b", Template: "ensure-single-workflow"})
	if accepted(w) == nil {
		t.Error("was accepted: the names of tasks need no dashes any more")
	}
}
