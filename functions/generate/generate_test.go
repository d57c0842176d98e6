package generate

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

const project = `machines:
- name: pump
  dataset: {tags: [a, b], train_start_date: "2020-01-01T00:00:00+00:00", train_end_date: "2020-02-01T00:00:00+00:00"}
- name: fan
  dataset: {tags: [a, b], train_start_date: "2020-01-01T00:00:00+00:00", train_end_date: "2020-02-01T00:00:00+00:00"}
globals:
  model: {sklearn.decomposition.PCA: {}}
  dataset: {data_provider: {type: RandomDataProvider}}
`

// cluster holds Workflows by their names.
type cluster struct {
	workflows map[string]*wfv1.Workflow
	created   int64
	cancelled []string
}

func newCluster(present ...*wfv1.Workflow) *cluster {
	c := &cluster{workflows: map[string]*wfv1.Workflow{}}
	for _, w := range present {
		c.workflows[w.Name] = w
	}
	return c
}

func (c *cluster) CreateWorkflow(_ context.Context, w *wfv1.Workflow, dryRun bool) (*wfv1.Workflow, error) {
	if c.workflows[w.Name] != nil {
		return nil, fault.New(fault.Conflict, "workflow %s exists already", w.Name)
	}
	if !dryRun {
		c.created++
		w.CreationTimestamp = metav1.Unix(1000+c.created, 0)
		c.workflows[w.Name] = w
	}
	return w, nil
}

func (c *cluster) Workflow(_ context.Context, name string) ([]byte, error) {
	if w, ok := c.workflows[name]; ok {
		return json.Marshal(w)
	}
	return nil, fault.New(fault.NotFound, "run %s does not exist", name)
}

func (c *cluster) ConfigMap(_ context.Context, name string) (*corev1.ConfigMap, error) {
	if name != "projects" {
		return nil, fault.New(fault.NotFound, "configmap %s does not exist", name)
	}
	return &corev1.ConfigMap{Data: map[string]string{"pumps.yaml": project}}, nil
}

func (c *cluster) EachWorkflow(_ context.Context, selector string, visit func(*metav1.PartialObjectMetadata)) error {
	for _, w := range c.workflows {
		if selector == gordo.LabelProject+"="+w.Labels[gordo.LabelProject] {
			visit(&metav1.PartialObjectMetadata{ObjectMeta: w.ObjectMeta})
		}
	}
	return nil
}

func (c *cluster) cancel() function.Function {
	return function.Function{Handle: function.Typed(func(_ context.Context, _ function.Call, request struct {
		Run string `json:"run"`
	}) (function.Response, error) {
		c.cancelled = append(c.cancelled, request.Run)
		return function.Response{}, nil
	})}
}

var settings = Settings{
	Namespace: "runs", ConfigMaps: []string{"projects"}, Foreign: owner.ForeignRead, PodLabel: "site/run",
	Policy:          run.Policy{VolumeKinds: []string{"persistentVolumeClaim", "emptyDir"}, Claims: []string{"azurefile", "data"}, Secrets: []string{"wandb"}},
	SecurityContext: &corev1.SecurityContext{RunAsNonRoot: new(true)},
}

var ci = function.Caller{Name: "ci", Queues: []string{""}, Claims: []string{"azurefile"}, Secrets: []string{"wandb"}}

// request is a request for the project, changed in parts.
func request(more map[string]any) json.RawMessage {
	r := map[string]any{"config": project, "projectName": "pumps"}
	for key, value := range more {
		if r[key] = value; value == nil {
			delete(r, key)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return text
}

func ask(on *cluster, caller function.Caller, body json.RawMessage) (Response, int, error) {
	got, err := New(on, on.cancel(), settings).Handle(context.Background(), function.Call{Caller: caller, Body: body})
	if err != nil {
		return Response{}, 0, err
	}
	return got.Body.(Response), got.Status, nil
}

func TestWorkflowsOfAConfig(t *testing.T) {
	on := newCluster()
	var first Response
	for name, body := range map[string]json.RawMessage{
		"text":        request(nil),
		"a ConfigMap": request(map[string]any{"config": nil, "configMap": map[string]any{"name": "projects", "key": "pumps.yaml"}}),
		"options":     request(map[string]any{"options": map[string]any{"split-workflows": "30", "n-servers": 0, "without-prometheus": false, "resources-labels": map[string]any{}}}),
	} {
		got, status, err := ask(on, ci, body)
		if err != nil || status != http.StatusOK || len(got.Workflows) != 1 || got.Runs != nil || on.created != 0 {
			t.Fatalf("%s: %d %+v %v", name, status, got, err)
		}
		if first.Workflows == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var w wfv1.Workflow
	if err := json.Unmarshal(first.Workflows[0], &w); err != nil {
		t.Fatal(err)
	}
	if w.Labels[owner.RunLabel] != "" || w.Labels[gordo.LabelManagedBy] != "gordo" || len(w.Labels[gordo.LabelRevision]) != 12 || w.GenerateName == "" {
		t.Errorf("%+v", w.ObjectMeta)
	}
}

func TestWarningsHaveTheirCodes(t *testing.T) {
	options := map[string]any{"resources-labels": map[string]any{"tier": 1}}
	got, _, err := ask(newCluster(), ci, request(map[string]any{"options": options}))
	if err != nil || len(got.Warnings) != 1 || got.Warnings[0].Code != gordo.LabelText || got.Warnings[0].Path != "options.resources-labels.tier" {
		t.Errorf("%+v %v", got.Warnings, err)
	}
	options["strict"] = true
	_, _, err = ask(newCluster(), ci, request(map[string]any{"options": options}))
	if f := fault.From(err); f == nil || f.Kind != fault.Invalid || f.Problems[0].Path != "options.resources-labels.tier" {
		t.Errorf("strict: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		more map[string]any
		path string
	}{
		"no project":                {map[string]any{"projectName": ""}, "projectName"},
		"a project's name":          {map[string]any{"projectName": "No Name"}, "projectName"},
		"a revision":                {map[string]any{"revision": "No Name"}, "revision"},
		"no config":                 {map[string]any{"config": nil}, "config"},
		"two configs":               {map[string]any{"configMap": map[string]any{"name": "projects", "key": "x"}}, "configMap"},
		"a ConfigMap not listed":    {map[string]any{"config": nil, "configMap": map[string]any{"name": "other", "key": "x"}}, "configMap.name"},
		"a key that is not there":   {map[string]any{"config": nil, "configMap": map[string]any{"name": "projects", "key": "x"}}, "configMap.key"},
		"an unknown option":         {map[string]any{"options": map[string]any{"n-serves": 1}}, "options.n-serves"},
		"an option's value":         {map[string]any{"options": map[string]any{"n-servers": "many"}}, "options.n-servers"},
		"null":                      {map[string]any{"options": map[string]any{"n-servers": nil}}, "options.n-servers"},
		"strict":                    {map[string]any{"options": map[string]any{"strict": "very"}}, "options.strict"},
		"the project as an option":  {map[string]any{"options": map[string]any{"project-name": "x"}}, "options.project-name"},
		"the revision as an option": {map[string]any{"options": map[string]any{"project-revision": "x"}}, "options.project-revision"},
		"part of an option":         {map[string]any{"options": map[string]any{"custom-model-builder-envs": []any{map[string]any{"value": "x"}}}}, "options.custom-model-builder-envs[0].name"},
		"part of the config":        {map[string]any{"config": strings.Replace(project, "name: fan", "name: pump", 1)}, "spec.config.machines[1].name"},
		"an unknown key":            {map[string]any{"sumbit": true}, "sumbit"},
	} {
		for _, submit := range []bool{false, true} {
			tc.more["submit"] = submit
			on := newCluster()
			_, _, err := ask(on, ci, request(tc.more))
			f := fault.From(err)
			if f == nil || f.Kind != fault.Invalid || len(f.Problems) != 1 || f.Problems[0].Path != tc.path || on.created != 0 {
				t.Errorf("%s: %v, want it at %s; %d created", name, err, tc.path, on.created)
			}
		}
	}
}

func TestEveryOptionOfTheMachineIsRefused(t *testing.T) {
	local := 0
	for _, f := range gordo.Flags {
		if !f.Local {
			continue
		}
		local++
		_, _, err := ask(newCluster(), ci, request(map[string]any{"options": map[string]any{f.Name: "argo"}}))
		if p := fault.From(err); p == nil || p.Problems[0].Path != "options."+f.Name {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if local == 0 {
		t.Error("no flag is local")
	}
}

// TestCheckKnowsNoConfigOfARoute: a route takes the config from its event, and
// is checked with a text in its place.
func TestCheckKnowsNoConfigOfARoute(t *testing.T) {
	f := New(newCluster(), function.Function{}, settings)
	if err := f.Check(request(map[string]any{"config": ""})); err != nil {
		t.Error(err)
	}
	if err := f.Check(request(map[string]any{"options": map[string]any{"namespace": "other"}, "submit": true})); err == nil {
		t.Error("what can be told without a cluster is not told")
	}
}

func TestAnswerIsBounded(t *testing.T) {
	// Each machine is written twice.
	large := strings.Repeat("x", 100<<10)
	of := func(machines int) string {
		var config strings.Builder
		config.WriteString("globals: {metadata: {text: " + large + "}, model: {sklearn.decomposition.PCA: {}}, dataset: {data_provider: {type: RandomDataProvider}}}\nmachines:\n")
		for i := range machines {
			config.WriteString("- {name: m" + strconv.Itoa(i) + ", dataset: {tags: [a], train_start_date: '2020-01-01T00:00:00+00:00', train_end_date: '2020-02-01T00:00:00+00:00'}}\n")
		}
		return config.String()
	}
	few, many := limits.GordoAnswer/len(large)/4, limits.GordoAnswer/len(large)/2+1
	if _, _, err := ask(newCluster(), ci, request(map[string]any{"config": of(few)})); err != nil {
		t.Errorf("%.200v", err)
	}
	if _, _, err := ask(newCluster(), ci, request(map[string]any{"config": of(many)})); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("%.200v", err)
	}
}

func TestKeyAndOwnership(t *testing.T) {
	on := newCluster()
	submit := func(caller function.Caller, key string, more map[string]any) (Response, int, error) {
		more["submit"] = true
		call := function.Call{Caller: caller, Key: key, Body: request(more)}
		if strings.HasPrefix(key, "commit") {
			call.Origin = &function.Origin{Route: "acme/gordo"}
		}
		got, err := New(on, on.cancel(), settings).Handle(context.Background(), call)
		if err != nil {
			return Response{}, 0, err
		}
		return got.Body.(Response), got.Status, nil
	}
	got, status, err := submit(ci, "commit 1", map[string]any{"options": map[string]any{"split-workflows": 1}})
	if err != nil || status != http.StatusCreated || len(got.Runs) != 2 || !got.Runs[0].Created || got.Workflows != nil {
		t.Fatalf("%d %+v %v", status, got, err)
	}
	w := on.workflows[got.Runs[1].Run]
	if w == nil || !strings.HasPrefix(w.Name, "pumps-") || !strings.HasSuffix(w.Name, "-1") || w.Namespace != "runs" {
		t.Fatalf("%+v", got)
	}
	if w.Labels[owner.RunLabel] != w.Name || w.Labels[gordo.LabelManagedBy] != "gordo" || w.Annotations[owner.Annotation] != "ci" || !strings.Contains(w.Annotations[argo.SourceAnnotation], "acme/gordo") {
		t.Errorf("%+v", w.ObjectMeta)
	}
	if w.Spec.ServiceAccountName != "gordo" || w.Spec.PodMetadata.Labels["site/run"] != w.Name {
		t.Errorf("%+v", w.Spec.PodMetadata)
	}
	for _, template := range w.Spec.Templates {
		token := template.AutomountServiceAccountToken == nil
		if needs := template.Container == nil && template.Script == nil || needToken[template.Name]; token != needs {
			t.Errorf("%s has a token: %t", template.Name, token)
		}
		if c := template.Container; c != nil && (c.SecurityContext == nil || !*c.SecurityContext.RunAsNonRoot) {
			t.Errorf("%s lacks the config's security context", template.Name)
		}
	}
	// The same config, written otherwise or of another commit, is the same revision.
	again, status, err := submit(ci, "commit 2", map[string]any{"config": "# again\n" + project, "options": map[string]any{"split-workflows": 1}})
	if err != nil || status != http.StatusOK || again.Runs[0].Created || again.Runs[0].Run != got.Runs[0].Run {
		t.Errorf("%d %+v %v", status, again, err)
	}
	for name, second := range map[string]func() (Response, int, error){
		"another key":   func() (Response, int, error) { return submit(ci, "k", map[string]any{}) },
		"other options": func() (Response, int, error) { return submit(ci, "", map[string]any{}) },
		"somebody else's": func() (Response, int, error) {
			return submit(function.Caller{Name: "cd", Everything: false, Queues: ci.Queues, Claims: ci.Claims}, "", map[string]any{"revision": "7"})
		},
	} {
		before := on.created
		if _, _, err := second(); fault.KindOf(err) != fault.Conflict || on.created != before {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewerRevisionReplacesOlderOnes(t *testing.T) {
	on := newCluster()
	for _, revision := range []string{"1", "2", "2"} {
		if _, _, err := ask(on, ci, request(map[string]any{"revision": revision, "submit": true})); err != nil {
			t.Fatal(err)
		}
	}
	// Twice, as the second call of the same revision finishes the first.
	if diff := cmp.Diff([]string{"pumps-1-0", "pumps-1-0"}, on.cancelled); diff != "" {
		t.Error(diff)
	}
	on.cancelled, on.workflows["pumps-1-0"].Labels[argo.CompletedLabel] = nil, "true"
	if _, _, err := ask(on, ci, request(map[string]any{"revision": "2", "submit": true})); err != nil || len(on.cancelled) > 0 {
		t.Errorf("what has ended was cancelled: %v %v", on.cancelled, err)
	}
}

func TestForeignProject(t *testing.T) {
	foreign := func(ended string) *wfv1.Workflow {
		return &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "pumps-old-x", Labels: map[string]string{
			gordo.LabelProject: "pumps", gordo.LabelRevision: "old", gordo.LabelManagedBy: "gordo", argo.CompletedLabel: ended}}}
	}
	body := request(map[string]any{"submit": true})
	if _, _, err := ask(newCluster(foreign("false")), ci, body); fault.KindOf(err) != fault.Conflict {
		t.Errorf("unfinished: %v", err)
	}
	if _, _, err := ask(newCluster(foreign("true")), ci, body); err != nil {
		t.Errorf("ended: %v", err)
	}
}

func TestDryRunCreatesNothing(t *testing.T) {
	on := newCluster()
	got, err := New(on, on.cancel(), settings).Handle(context.Background(), function.Call{Caller: ci, DryRun: true, Body: request(map[string]any{"submit": true})})
	if err != nil || on.created != 0 || got.Body.(Response).Runs[0].Created {
		t.Errorf("%+v %v", got, err)
	}
}
