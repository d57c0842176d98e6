//go:build cluster

package clustertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/limits"
)

// TestBadRunsCreateNothing sends what is no run: each is refused with the place
// of the mistake, and no Workflow has its name afterwards.
func TestBadRunsCreateNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prefix := unique(t)
	controlPlane := s.controlPlaneNode()
	taken := s.foreignWorkflow()

	// JSON is written by hand where no encoder would write it.
	run := func(rest string) string {
		return `{"id": "` + prefix + "-" + hooktest.RandomHex(4) + `", "queue": "research", ` + rest + `}`
	}
	tasks := func(list string) string { return run(`"image": "` + busybox + `", "tasks": [` + list + `]`) }
	with := func(fields string) string { return tasks(`{"id": "a", ` + fields + `}`) }

	for name, tc := range map[string]struct {
		body string
		code int
		path string
	}{
		"a cycle":                    {tasks(`{"id": "a", "needs": ["b"]}, {"id": "b", "needs": ["a"]}`), 422, "tasks[0].needs"},
		"a need that does not exist": {with(`"needs": ["b"]`), 422, "tasks[0].needs[0]"},
		"needs itself":               {with(`"needs": ["a"]`), 422, "tasks[0].needs"},
		"duplicate ids":              {tasks(`{"id": "a"}, {"id": "a"}`), 422, "tasks[1].id"},
		"the id of a worker":         {tasks(`{"id": "a", "split": {"workers": 2}}, {"id": "a-1"}`), 422, "tasks[1].id"},
		"the id of a merge":          {tasks(`{"id": "a", "split": {"workers": 2, "merge": {}}}, {"id": "a-merge"}`), 422, "tasks[1].id"},
		"the id of a helper":         {tasks(`{"id": "a", "split": {"workers": 2, "extra": 1}}, {"id": "a-extra-0"}`), 422, "tasks[1].id"},
		"a name of 64 letters":       {`{"id": "` + strings.Repeat("a", 64) + `", "queue": "research", "image": "x", "tasks": [{"id": "a"}]}`, 422, "id"},
		"a task of 64 letters":       {tasks(`{"id": "` + strings.Repeat("a", 64) + `"}`), 422, "tasks[0].id"},
		"no image":                   {run(`"tasks": [{"id": "a"}]`), 422, "tasks[0].image"},
		"no tasks":                   {run(`"tasks": []`), 422, "tasks"},
		"zero memory":                {with(`"resources": {"memory": "0"}`), 422, "tasks[0].resources.memory"},
		"memory: 8":                  {with(`"resources": {"memory": 8}`), 422, "tasks[0].resources.memory"},
		"negative cpu":               {with(`"resources": {"cpu": "-1"}`), 422, "tasks[0].resources.cpu"},
		"1,001 workers":              {with(`"split": {"workers": 1001}`), 422, "tasks[0].split.workers"},
		"an unknown key":             {with(`"imgae": "x"`), 422, "tasks[0].imgae"},
		"an unknown key of the run":  {run(`"image": "x", "tasks": [{"id": "a"}], "que": "x"`), 422, "que"},
		"hostPath":                   {run(`"image": "x", "tasks": [{"id": "a"}], "volumes": [{"name": "v", "hostPath": {"path": "/"}}]`), 422, "volumes[0].hostPath"},
		"a claim outside the list":   {run(`"image": "x", "tasks": [{"id": "a"}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]`), 422, "volumes[0].persistentVolumeClaim.claimName"},
		"a Secret outside the list":  {with(`"env": {"TOKEN": {"secret": "s", "key": "k"}}`), 422, "tasks[0].env.TOKEN.secret"},
		"env RUNHOOK_X":              {with(`"env": {"RUNHOOK_X": "1"}`), 422, "tasks[0].env.RUNHOOK_X"},
		"two params of one name":     {run(`"image": "x", "tasks": [{"id": "a"}], "params": {"a.b": "1", "a-b": "2"}`), 422, "params"},
		"a NUL":                      {with(`"env": {"X": "\u0000"}`), 422, "tasks[0].env.X"},
		"a control-plane node":       {with(`"nodes": ["` + controlPlane + `"]`), 422, "tasks[0].nodes[0]"},
		"a node that is not there":   {with(`"nodes": ["no-such-node"]`), 422, "tasks[0].nodes[0]"},
		"somebody else's Workflow":   {`{"id": "` + taken + `", "queue": "research", "image": "x", "tasks": [{"id": "a"}]}`, 409, ""},
		"a key twice":                {`{"id": "` + prefix + `-a", "id": "` + prefix + `-b", "queue": "research", "image": "x", "tasks": [{"id": "a"}]}`, 400, "id"},
		"more than etcd takes":       {run(`"image": "x", "params": {` + longParams() + `}, "tasks": [` + manyTasks() + `]`), 422, ""},
		"2 MiB":                      {run(`"image": "x", "tasks": [{"id": "a"}], "params": {"x": "` + strings.Repeat("x", limits.FunctionBody) + `"}`), 413, ""},
		"YAML":                       {"id: " + prefix + "-yaml\nqueue: research\nimage: x\ntasks: [{id: a}]\n", 400, ""},
		"NaN":                        {with(`"retry": {"failures": NaN}`), 400, ""},
		"deep nesting":               {with(`"env": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), 400, ""},
		"half an object":             {`{"id": "` + prefix + `-half", "queue"`, 400, ""},
		"a list":                     {`[]`, 422, ""},
		"nothing":                    {``, 400, ""},
	} {
		request, err := http.NewRequest(http.MethodPost, s.url+"/functions/submit", strings.NewReader(tc.body))
		must(s, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+s.secret("planner-token"))
		got := s.do(request)
		var p problem
		if err := json.Unmarshal(got.body, &p); err != nil || got.code != tc.code || p.Detail == "" {
			t.Errorf("%s: got %d %.500s, want %d", name, got.code, got.body, tc.code)
			continue
		}
		var paths []string
		for _, e := range p.Errors {
			paths = append(paths, e.Path)
		}
		if tc.path != "" && !slices.ContainsFunc(paths, func(path string) bool { return path == tc.path || strings.HasPrefix(path, tc.path+"[") }) {
			t.Errorf("%s: %v are blamed, want %s", name, paths, tc.path)
		}
	}
	list, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).List(s.Context(), metav1.ListOptions{})
	must(s, err)
	for _, w := range list.Items {
		if strings.HasPrefix(w.Name, prefix) || w.Name == strings.Repeat("a", 64) {
			s.deleteAtEnd(w.Name)
			t.Errorf("Workflow %s was created", w.Name)
		}
	}
	there, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), taken, metav1.GetOptions{})
	if err != nil || there.Labels["runhook/run"] != "" || there.Spec.Entrypoint != "wait" {
		t.Errorf("somebody else's Workflow was changed: %v", err)
	}
}

// longParams and manyTasks fit a request, and do not fit a Workflow, which has
// the params in each of its tasks.
func longParams() string {
	return `"x": "` + strings.Repeat("x", 100<<10) + `"`
}

func manyTasks() string {
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf(`{"id": "t%d"}`, i))
	}
	return strings.Join(list, ",")
}

// controlPlaneNode makes a node that runs no tasks, and that nothing is put on.
func (s *site) controlPlaneNode() string {
	s.Helper()
	nodes := s.kube.CoreV1().Nodes()
	made, err := nodes.Create(s.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: unique(s.T), Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}},
		Spec:       corev1.NodeSpec{Unschedulable: true},
	}, metav1.CreateOptions{})
	must(s, err)
	s.Cleanup(func() {
		if err := nodes.Delete(context.Background(), made.Name, metav1.DeleteOptions{}); err != nil {
			s.Errorf("delete node %s: %v", made.Name, err)
		}
	})
	return made.Name
}

// foreignWorkflow makes a Workflow that runhook knows nothing of.
func (s *site) foreignWorkflow() string {
	s.Helper()
	made, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Create(s.Context(), &wfv1.Workflow{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign-" + hooktest.RandomHex(4)},
		Spec:       wfv1.WorkflowSpec{Entrypoint: "wait", Templates: []wfv1.Template{{Name: "wait", Suspend: &wfv1.SuspendTemplate{}}}},
	}, metav1.CreateOptions{})
	must(s, err)
	s.deleteAtEnd(made.Name)
	return made.Name
}
