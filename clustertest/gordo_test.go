//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/cases"
	"github.com/runhook/runhook/pkg/gordo/command"
	"github.com/runhook/runhook/pkg/status"
)

// kubectl runs the cluster's own command line.
func (s *site) kubectl(args ...string) string {
	s.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(s.Context()), "kubectl", args...).CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// said is what a user may write into a config, and what nobody may touch.
const said = "{{workflow.name}} {{=1+1}} {{inputs.parameters.x}} $(HOME) $$ \"q\" 'r' \\ ä ☃ 😀 `id`"

// gordoProject is a project on the test's cluster. Its programs, and the images
// that come from elsewhere, are stand-ins; its disks are folders of the nodes.
type gordoProject struct {
	*site
	name, folder, repository string
}

func (s *site) gordoProject() *gordoProject {
	s.Helper()
	s.alone("gordo")
	p := &gordoProject{s, unique(s.T), s.TempDir(), s.gordoImage()}
	s.mirror()
	manifests := []string{"-f", "testdata/gordo.yaml"}
	s.Cleanup(func() {
		s.kubectl(append([]string{"delete", "--ignore-not-found", "--wait"}, manifests...)...)
		s.kubectl("delete", "--ignore-not-found", "-k", filepath.Join(root, "manifests/gordo"))
	})
	s.kubectl("apply", "-k", filepath.Join(root, "manifests/gordo"))
	s.kubectl(append([]string{"apply"}, manifests...)...)
	s.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/models.equinor.com", "crd/virtualservices.networking.istio.io", "crd/servicemonitors.monitoring.coreos.com")
	s.Cleanup(func() {
		of := "--selector=" + gordo.LabelProject + "=" + p.name
		s.kubectl("-n", namespace, "delete", "workflows,deployments,statefulsets,services,horizontalpodautoscalers,models.equinor.com,virtualservices,servicemonitors,pods", of, "--wait")
		s.kubectl("-n", namespace, "delete", "pods,persistentvolumeclaims", "--selector=app in (gordo-influx-"+p.name+",gordo-grafana-"+p.name+",gordo-postgres-"+p.name+")", "--wait")
	})
	must(s, os.WriteFile(p.file("runhook.yaml"), []byte("namespace: "+namespace+"\nruns: {volumes: {claims: [azurefile]}}\n"), 0o600))
	return p
}

func (p *gordoProject) file(name string) string { return filepath.Join(p.folder, name) }

// metadata is a machine's, with names and values that are easily mistaken.
var metadata = map[string]any{
	"on": "on", "12": "12", "null": "null", "yes": true, "n": nil, "lines": "one\n  two\r\n\tthree\n", "said": said, said: []any{said, 1.5},
}

// submit submits a revision and gives its run.
func (p *gordoProject) submit(revision string, hold bool, influx string, machines []string, flags ...string) string {
	p.Helper()
	small := map[string]any{"resources": map[string]any{
		"requests": map[string]any{"memory": 16, "cpu": 10}, "limits": map[string]any{"memory": 128, "cpu": 500},
	}}
	builder := maps.Clone(small)
	env := []any{map[string]any{"name": "SAID", "value": said}, map[string]any{"name": "WANT_PROJECT", "value": p.name}}
	if hold {
		env = append(env, map[string]any{"name": "HOLD", "value": "yes"})
	}
	builder["env"] = env
	var all []any
	for _, name := range machines {
		all = append(all, map[string]any{"name": name, "metadata": metadata, "runtime": map[string]any{"influx": map[string]any{"enable": name == influx}}, "dataset": map[string]any{
			"tags": []any{said, "b"}, "data_provider": map[string]any{"type": "RandomDataProvider"},
			"train_start_date": "2021-03-01T00:00:00Z", "train_end_date": "2021-09-01T00:00:00Z",
		}})
	}
	config, err := json.Marshal(map[string]any{"machines": all, "globals": map[string]any{
		"model":   map[string]any{"sklearn.decomposition.PCA": map[string]any{}},
		"runtime": map[string]any{"influx": small, "client": small, "server": small, "prometheus_metrics_server": small, "builder": builder},
	}})
	must(p.site, err)
	must(p.site, os.WriteFile(p.file("config.yaml"), config, 0o600))
	args := append([]string{"generate", p.file("config.yaml"), "--submit", "--project-name", p.name, "--project-revision", revision,
		"--docker-registry", registry, "--docker-repository", p.repository, "--gordo-version", gordoVersion,
		"--kubeconfig", os.Getenv("KUBECONFIG"), "-c", p.file("runhook.yaml"), "-o", "json"}, flags...)
	var answer struct {
		Runs []struct {
			Run     string
			Created bool
		}
	}
	code, out, errs := p.runhook(args...)
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 || len(answer.Runs) != 1 || !answer.Runs[0].Created {
		p.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	if code, out, errs := p.runhook(args...); code != 0 || !strings.Contains(out, `"created": false`) {
		p.Errorf("again: exit code %d, %s%s", code, out, errs)
	}
	return answer.Runs[0].Run
}

// models gives the revisions of the project's Models by their names.
func (p *gordoProject) models() map[string]string {
	p.Helper()
	client, err := dynamic.NewForConfig(p.config)
	must(p.site, err)
	list, err := client.Resource(schema.GroupVersionResource{Group: "equinor.com", Version: "v1", Resource: "models"}).Namespace(namespace).
		List(p.Context(), metav1.ListOptions{LabelSelector: gordo.LabelProject + "=" + p.name})
	must(p.site, err)
	models := map[string]string{}
	for _, model := range list.Items {
		models[model.GetName()] = model.GetLabels()[gordo.LabelRevision]
	}
	return models
}

// TestProjectRunsToItsEnd takes a project through three revisions: one that is
// replaced while it builds, one whose pods stay, one that cleans up.
func TestProjectRunsToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.gordoProject()
	first := p.submit("1", true, "", []string{"12", "on"})
	p.reached(first, status.Running, "model-builder-12", "model-builder-on")

	second := p.submit("2", false, "on", []string{"12", "on"}, "--log-level", "DEBUG")
	s.eventually("the first revision is ended", func() error {
		got, err := p.status(first)
		if err == nil && got.Phase != status.Stopped {
			err = fmt.Errorf("it is %s", got.Phase)
		}
		return err
	})
	p.reached(second, status.Succeeded, "gordo-server", "gordo-influx", "gordo-grafana", "gordo-postgres")
	p.reached(second, status.Succeeded, "model-builder-12", "model-builder-on")
	s.waitPhase(second, "Succeeded")
	p.wantBuilt(second, "12", "on")
	p.wantServed("2")
	p.wantPredicted(second, "on")
	want := map[string]string{p.name + "-12": "2", p.name + "-on": "2"}
	if diff := cmp.Diff(want, p.models()); diff != "" {
		t.Error(diff)
	}

	// The last step removes what the revision has no more, and its own pods.
	third := p.submit("3", false, "", []string{"12"})
	p.reached(third, status.Succeeded, "gordo-server")
	s.waitPhase(third, "Succeeded")
	if diff := cmp.Diff(map[string]string{p.name + "-12": "3"}, p.models()); diff != "" {
		t.Error(diff)
	}
	if left := p.stores(); len(left) > 0 {
		t.Errorf("of the second revision is left: %v", left)
	}
	if left := p.builders(third); len(left) > 0 {
		t.Errorf("pods are left: %v", slices.Collect(maps.Keys(left)))
	}
	if got, err := p.status(third); err != nil || got.Phase != status.Succeeded || got.Tasks["model-builder-12"].Phase != status.Succeeded {
		t.Errorf("status says %+v, %v", got, err)
	}
}

// status asks as somebody who sees all runs.
func (p *gordoProject) status(run string) (got status.Status, err error) {
	p.Helper()
	code, out, errs := p.runhook("status", run, "--kubeconfig", os.Getenv("KUBECONFIG"), "-o", "json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		return got, fmt.Errorf("exit code %d, %s%s: %w", code, out, errs, err)
	}
	return got, nil
}

// builders gives the builders' pods by their machines.
func (p *gordoProject) builders(run string) map[string]string {
	p.Helper()
	pods, err := p.kube.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{LabelSelector: "runhook/run=" + run + ",app=gordo-model-builder"})
	must(p.site, err)
	names := map[string]string{}
	for _, pod := range pods.Items {
		names[pod.Labels[gordo.LabelModel]] = pod.Name
	}
	return names
}

// stores gives the StatefulSets of the project.
func (p *gordoProject) stores() []string {
	p.Helper()
	sets, err := p.kube.AppsV1().StatefulSets(namespace).List(p.Context(), metav1.ListOptions{LabelSelector: gordo.LabelProject + "=" + p.name})
	must(p.site, err)
	var names []string
	for _, set := range sets.Items {
		names = append(names, set.Name)
	}
	return names
}

// wantPredicted looks at what the one client was given, and at what the stores
// were asked.
func (p *gordoProject) wantPredicted(run, machine string) {
	p.Helper()
	if got, want := p.stores(), []string{"gordo-grafana-" + p.name, "gordo-influx-" + p.name, "gordo-postgres-" + p.name}; !slices.Equal(got, want) {
		p.Errorf("the stores are %v, want %v", got, want)
	}
	pods, err := p.kube.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{LabelSelector: "runhook/run=" + run + ",app=gordo-client"})
	must(p.site, err)
	if len(pods.Items) != 1 {
		p.Fatalf("%d clients ran", len(pods.Items))
	}
	want := "predict " + machine + " 2021-03-01 00:00:00+00:00 "
	said, provider := p.podLog(pods.Items[0].Name), map[string]any{}
	if !strings.HasPrefix(said, want) || json.Unmarshal([]byte(strings.TrimPrefix(said, want)), &provider) != nil || !strings.HasSuffix(fmt.Sprint(provider["type"]), "RandomDataProvider") {
		p.Errorf("the client says %q", said)
	}
	for store, request := range map[string]string{"influx": "POST /query?q=CREATE%20DATABASE%20feeder ", "grafana": "POST /api/dashboards/db "} {
		log, err := p.kube.CoreV1().Pods(namespace).GetLogs("gordo-"+store+"-"+p.name+"-0", &corev1.PodLogOptions{}).DoRaw(p.Context())
		must(p.site, err)
		if !strings.Contains(string(log), request) {
			p.Errorf("%s was not asked %q: %s", store, request, log)
		}
	}
}

// reached waits until tasks of a run have come to a phase. A project has some
// thirty pods: each part of it is waited for.
func (p *gordoProject) reached(run string, phase status.Phase, tasks ...string) {
	p.Helper()
	p.eventually(fmt.Sprint(tasks, " of run ", run, " are ", phase), func() error {
		got, err := p.status(run)
		if err != nil {
			return err
		}
		for _, name := range tasks {
			if task := got.Tasks[name]; task.Phase != phase {
				return fmt.Errorf("%s is %s %s; the run is %s %s", name, task.Phase, task.Message, got.Phase, got.Message)
			}
		}
		return nil
	})
}

// wantBuilt holds what each builder was given against the config, and against
// the Workflow: neither Argo nor Kubernetes has changed a byte.
func (p *gordoProject) wantBuilt(run string, machines ...string) {
	p.Helper()
	workflow, err := p.argo.ArgoprojV1alpha1().Workflows(namespace).Get(p.Context(), run, metav1.GetOptions{})
	must(p.site, err)
	sent := map[string]string{}
	for _, task := range workflow.GetTemplateByName("do-all").DAG.Tasks {
		if task.Template == "model-builder" {
			sent[task.Arguments.GetParameterByName("machine-name").GetValue()] = task.Arguments.GetParameterByName("machine").GetValue()
		}
	}
	pods := p.builders(run)
	for _, name := range machines {
		if pods[name] == "" {
			p.Errorf("machine %s has no builder", name)
			continue
		}
		given, rest, _ := strings.Cut(p.podLog(pods[name]), "\n")
		if given != sent[name] {
			p.Errorf("the builder of %s is given %q, and the Workflow has %q", name, given, sent[name])
		}
		// In a variable's value $$ is Kubernetes' own way to write $, and stays so.
		if want := "/gordo/models/" + p.name + "/models/2/" + name + "\n" + strings.ReplaceAll(said, "$$", "$"); rest != want {
			p.Errorf("the builder of %s says %q, want %q", name, rest, want)
		}
		var machine struct{ Name, Metadata, Dataset string } // the parts are JSON again
		var its struct {
			User map[string]any `json:"user_defined"`
		}
		var dataset struct {
			Tags []any `json:"tag_list"`
		}
		if err := errors.Join(json.Unmarshal([]byte(given), &machine), json.Unmarshal([]byte(machine.Metadata), &its)); err != nil {
			p.Errorf("%s: %v", given, err)
		}
		if err := json.Unmarshal([]byte(machine.Dataset), &dataset); err != nil {
			p.Errorf("%s: %v", machine.Dataset, err)
		}
		if machine.Name != name || !strings.Contains(fmt.Sprint(dataset.Tags), said) {
			p.Errorf("machine %q has the tags %v", machine.Name, dataset.Tags)
		}
		if diff := cmp.Diff(metadata, its.User["machine-metadata"]); diff != "" {
			p.Errorf("the metadata of %s (-config +builder): %s", name, diff)
		}
	}
}

// wantServed waits for the server of a revision, and looks at what it was given.
func (p *gordoProject) wantServed(revision string) {
	p.Helper()
	host := "gordo-srv-" + p.name
	p.eventually("the server is ready", func() error {
		deployment, err := p.kube.AppsV1().Deployments(namespace).Get(p.Context(), host, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := deployment.Labels[gordo.LabelRevision]; got != revision || deployment.Status.ObservedGeneration < deployment.Generation || deployment.Status.ReadyReplicas != 1 {
			return fmt.Errorf("revision %s, %+v", got, deployment.Status)
		}
		return nil
	})
	pods, err := p.kube.CoreV1().Pods(namespace).List(p.Context(), metav1.ListOptions{LabelSelector: "app=" + host})
	must(p.site, err)
	if len(pods.Items) != 1 {
		p.Fatalf("the server has %d pods", len(pods.Items))
	}
	options := *podLogOptions
	options.Container = "gordoserver-" + p.name
	log, err := p.kube.CoreV1().Pods(namespace).GetLogs(pods.Items[0].Name, &options).DoRaw(p.Context())
	must(p.site, err)
	if want := `["12","on",] /gordo/models/` + p.name + `/models/` + revision + ` --with-prometheus-config` + end; !bytes.HasPrefix(log, []byte(want)) {
		p.Errorf("the server says %q, want %q", log, want)
	}
}

// TestClusterTakesEveryDocument lets the API server check, without creating
// anything, what the recorded cases become.
func TestClusterTakesEveryDocument(t *testing.T) {
	s := newSite(t)
	const testdata = root + "/pkg/gordo/testdata"
	taken := 0
	for _, name := range cases.Names(t, testdata, "workflow.json") {
		if name == "flags-custom-template" { // the user's own text, which need be no Workflow
			continue
		}
		got := cases.Play(t, testdata, command.Generate(nil), name, "-o", "json")
		if got.Err != nil {
			continue // package command knows which cases are refused, and why
		}
		var documents []wfv1.Workflow
		if err := json.Unmarshal([]byte(got.Out), &documents); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range documents {
			documents[i].Namespace = namespace
			_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Create(t.Context(), &documents[i], metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				t.Errorf("%s, document %d: %v", name, i, err)
			}
			taken++
		}
	}
	if taken < 50 {
		t.Errorf("only %d documents were shown to the cluster", taken)
	}
}
