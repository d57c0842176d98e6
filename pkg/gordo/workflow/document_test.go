package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/workflow"
	"github.com/runhook/runhook/pkg/limits"
)

func documents(t *testing.T, config string, flags map[string]string) []*workflow.Document {
	t.Helper()
	var list []*workflow.Document
	for d, err := range planned(t, config, flags).Documents() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// TestTextMeansTheObject: what is written by hand, for speed, is what Argo's
// own types write.
func TestTextMeansTheObject(t *testing.T) {
	for name, config := range map[string]string{
		"light":   light(3),
		"heavy":   heavy(2),
		"mixed":   light(1) + "  - {name: a.b, model: x, metadata: {é: \"\\\"\\\\\\n{{x}}\"}, runtime: {influx: {enable: false}}, dataset: {type: RandomDataset, train_start_date: 2021-03-01T00:00:00Z, train_end_date: 2021-09-01T00:00:00Z, tags: [ü]}}\n",
		"no part": light(1) + "globals: {runtime: {influx: {enable: false}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range documents(t, config, map[string]string{"with-keda": "1", "server-labels": `{"a": "b"}`}) {
				object, err := json.Marshal(d.Workflow())
				if err != nil {
					t.Fatal(err)
				}
				asJSON, err := d.AppendJSON(nil)
				if err != nil {
					t.Fatal(err)
				}
				asYAML, err := d.AppendYAML(nil)
				if err != nil {
					t.Fatal(err)
				}
				want := decoded(t, object)
				delete(want, "status")
				tidy(want)
				for form, text := range map[string][]byte{"JSON": asJSON, "YAML": asYAML} {
					got := decoded(t, text)
					tidy(got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: -object +text\n%s", form, diff)
					}
				}
			}
		})
	}
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// tidy drops the empty mappings that Argo's types write.
func tidy(v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, item := range x {
			if m, ok := item.(map[string]any); ok && len(m) == 0 && k != "emptyDir" {
				delete(x, k)
			}
			tidy(item)
		}
	case []any:
		for _, item := range x {
			tidy(item)
		}
	}
}

func TestTheSameConfigGivesTheSameText(t *testing.T) {
	for range 3 {
		a, b := generate(t, heavy(3), nil), generate(t, heavy(3), nil)
		if len(a) != 1 || string(a[0]) != string(b[0]) {
			t.Fatal("two runs differ")
		}
	}
}

// TestSplitBySize: a part that would pass what the API server takes is split
// further, and no machine is lost.
func TestSplitBySize(t *testing.T) {
	const machines = 400
	seen := map[string]bool{}
	for i, text := range generate(t, heavy(machines), map[string]string{"split-workflows": "400"}) {
		if len(text) > limits.Workflow {
			t.Errorf("document %d has %d bytes", i, len(text))
		}
		if i == 0 && len(text) < limits.Workflow/2 {
			t.Errorf("document 0 has only %d bytes", len(text))
		}
		var w struct {
			Metadata struct{ Annotations, Labels map[string]string }
		}
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		if got := w.Metadata.Labels[gordo.LabelWorkflow]; got != fmt.Sprint(i) {
			t.Errorf("document %d says it is %s", i, got)
		}
		var names []string
		if err := json.Unmarshal([]byte(w.Metadata.Annotations["gordo-models"]), &names); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			seen[name] = true
		}
	}
	if len(seen) != machines {
		t.Errorf("%d machines of %d", len(seen), machines)
	}
}

func TestWhatIsTooLargeIsRefusedByName(t *testing.T) {
	big := strings.Replace(light(2), "machine-00001\n", "machine-00001\n    metadata: {note: \""+strings.Repeat("x", limits.EnvEntry)+"\"}\n", 1)
	var refused error
	for _, err := range planned(t, big, nil).Documents() {
		refused = err
	}
	if refused == nil || !strings.Contains(refused.Error(), "spec.config.machines[1]: the machine machine-00001 takes") {
		t.Errorf("got %v", refused)
	}
	o, err := gordo.ParseOptions(func(f gordo.Flag) (string, bool) {
		v, ok := map[string]string{"project-name": "p", "project-revision": "1"}[f.Name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := gordo.Load([]byte(light(10000)))
	if err != nil {
		t.Fatal(err)
	}
	project, err := gordo.Normalize(read, o.Normal())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workflow.New(project, o, 3); err == nil || !strings.Contains(err.Error(), "spec.config.machines: have names of") {
		t.Errorf("got %v", err)
	}
}

func TestNamespaceStandsEverywhere(t *testing.T) {
	w := documents(t, light(1), map[string]string{"namespace": "ns"})[0].Workflow()
	if w.Namespace != "ns" {
		t.Errorf("the Workflow is in %q", w.Namespace)
	}
	for i := range w.Spec.Templates {
		template := &w.Spec.Templates[i]
		texts := []string{}
		if r := template.Resource; r != nil && template.Name != "apply-with-retries" {
			texts = append(texts, r.Manifest+strings.Join(r.Flags, " "))
		}
		for _, steps := range template.Steps {
			for _, s := range steps.Steps {
				if s.Template == "apply-with-retries" {
					texts = append(texts, s.Arguments.Parameters[0].Value.String())
				}
			}
		}
		for _, text := range texts {
			if !strings.Contains(text, `"namespace":"ns"`) && !strings.Contains(text, "--namespace=ns") {
				t.Errorf("%s has no namespace: %.200s", template.Name, text)
			}
		}
	}
}

func TestModelOfAMachine(t *testing.T) {
	w := documents(t, light(1), map[string]string{"gordo-version": "6", "resources-labels": `{"env": "test"}`, "owner-references": `[{uid: u, name: n, kind: k, apiVersion: v}]`})[0].Workflow()
	text := w.GetTemplateByName("gordo-model").Steps[0].Steps[0].Arguments.Parameters[0].Value.String()
	if !strings.Contains(text, `"config":{{inputs.parameters.config}}`) {
		t.Fatalf("the machine does not stand as JSON: %s", text)
	}
	got := decoded(t, []byte(strings.Replace(text, "{{inputs.parameters.config}}", `{"a": 1}`, 1)))
	name := "{{inputs.parameters.model-name}}"
	want := map[string]any{
		"apiVersion": "equinor.com/v1", "kind": "Model",
		"metadata": map[string]any{
			"name": "proj-a-" + name,
			"labels": map[string]any{
				"app": name, "env": "test", "app.kubernetes.io/name": "model", "app.kubernetes.io/component": "model",
				"app.kubernetes.io/part-of": "gordo", "app.kubernetes.io/managed-by": "gordo",
				"applications.gordo.equinor.com/project-name": "proj-a", "applications.gordo.equinor.com/project-revision": "1700000000123",
				"applications.gordo.equinor.com/model-name": name,
			},
			"ownerReferences": []any{map[string]any{"uid": "u", "name": "n", "kind": "k", "apiVersion": "v"}},
		},
		"spec": map[string]any{"gordo-version": "6", "config": map[string]any{"a": 1.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBuilderOfGlobals(t *testing.T) {
	config := light(1) + "globals: {runtime: {builder: {exceptions_report_level: TYPE, metadata: {labels: {tier: 1}}, volumeMounts: [{name: v, mountPath: /v}]}, volumes: [{name: v, hostPath: {path: /v}}]}}\n"
	w := documents(t, config, map[string]string{"security-context": `{"runAsUser": 5}`, "pod-security-context": `{"fsGroup": 6}`})[0].Workflow()
	builder := w.GetTemplateByName("model-builder")
	env := map[string]string{}
	for _, e := range builder.Container.Env {
		env[e.Name] = e.Value
	}
	if env["EXCEPTIONS_REPORT_LEVEL"] != "TYPE" || builder.Metadata.Labels["tier"] != "1" || builder.Container.VolumeMounts[2].MountPath != "/v" {
		t.Errorf("got %v, %v, %v", env, builder.Metadata.Labels, builder.Container.VolumeMounts)
	}
	if w.Spec.Volumes[2].HostPath == nil || *w.Spec.SecurityContext.FSGroup != 6 {
		t.Errorf("got %v, %v", w.Spec.Volumes, w.Spec.SecurityContext)
	}
	for _, template := range w.Spec.Templates {
		if s := template.Script; s != nil && (s.SecurityContext == nil || *s.SecurityContext.RunAsUser != 5) {
			t.Errorf("%s has no security context", template.Name)
		}
	}
}

func TestSubmittedHasAName(t *testing.T) {
	w, err := documents(t, light(2), map[string]string{"split-workflows": "1"})[1].Submitted()
	if err != nil || w.Name != "proj-a-1700000000123-1" || w.GenerateName != "" {
		t.Errorf("got %q, %q, %v", w.Name, w.GenerateName, err)
	}
	long := documents(t, light(1), map[string]string{"project-revision": strings.Repeat("r", 45), "project-name": strings.Repeat("p", 30)})
	if _, err := long[0].Submitted(); err == nil {
		t.Error("a name of 78 characters was taken")
	}
}

func TestWhatArgoWouldExpandIsRefused(t *testing.T) {
	for globals, where := range map[string]string{
		"server: {image: \"{{workflow.name}}\"}":                                            "spec.config.globals.runtime.server.image",
		"builder: {volumeMounts: [{name: a, mountPath: \"/{{x}}\"}]}":                       "spec.config.globals.runtime.builder.volumeMounts",
		"volumes: [{name: a, hostPath: {path: \"{{x}}\"}}]":                                 "spec.config.globals.runtime.volumes",
		"volumes: [{name: tmpdir, emptyDir: {}}]":                                           "spec.config.globals.runtime.volumes[0].name",
		"volumes: [{name: a, emptyDirs: {}}]":                                               "spec.config.globals.runtime.volumes[0].emptyDirs",
		"builder: {env: [{name: A, valueFrom: {secretKeyRef: {name: \"{{x}}\", key: k}}}]}": "spec.config.globals.runtime.builder.env[0].valueFrom",
		"builder: {env: [{name: \"A B\"}]}":                                                 "spec.config.globals.runtime.builder.env[0].name",
		"builder: {metadata: {labels: {app: mine}}}":                                        "spec.config.globals.runtime.builder.metadata.labels.app",
		"client: {max_instances: 0}":                                                        "spec.config.globals.runtime.client.max_instances",
		"server: {resources: {requests: {memory: -1}}}":                                     "spec.config.globals.runtime.server.resources.requests.memory",
	} {
		o, err := gordo.ParseOptions(func(f gordo.Flag) (string, bool) {
			v, ok := map[string]string{"project-name": "p", "project-revision": "1"}[f.Name]
			return v, ok
		})
		if err != nil {
			t.Fatal(err)
		}
		read, err := gordo.Load([]byte(light(1) + "globals: {runtime: {" + globals + "}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		project, err := gordo.Normalize(read, o.Normal())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workflow.New(project, o, 3); err == nil || !strings.Contains(err.Error(), where+": ") {
			t.Errorf("%s: %v", globals, err)
		}
	}
}
