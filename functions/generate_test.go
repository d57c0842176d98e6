package functions

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/owner"
)

const projectRoutes = `
namespace: runs
runs: {volumes: {claims: [azurefile]}}
gordo: {configMaps: [projects]}
hooks:
- path: models
  provider: gitea
  secret: {env: SECRET}
  routes:
  - name: payload
    branches: [main]
    function: generate
    request: {submit: true, options: {n-servers: 3}}
    set: {config: payload.config, projectName: payload.repository.name, revision: event.sha}
  - name: listed
    branches: [listed]
    function: generate
    request: {submit: true, projectName: pumps, configMap: {name: projects, key: pumps.yaml}}
`

// projects is an API server that keeps the Workflows that it is sent.
type projects struct {
	made []wfv1.Workflow
	text string
}

func (p *projects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		var made wfv1.Workflow
		_ = json.Unmarshal(body, &made)
		p.made = append(p.made, made)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	case r.URL.Path == "/api/v1/namespaces/runs/configmaps/projects":
		text, _ := json.Marshal(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "projects"}, "data": map[string]string{"pumps.yaml": p.text}})
		_, _ = w.Write(text)
	default:
		fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]}`)
	}
}

// TestARouteSubmitsAProject: the config comes with the delivery, or from a
// ConfigMap that the config names.
func TestARouteSubmitsAProject(t *testing.T) {
	c, err := config.Parse("config.yaml", []byte(projectRoutes), func(string) string { return "a secret of some length" })
	if err != nil {
		t.Fatal(err)
	}
	project := `{"globals": {"model": {"sklearn.decomposition.PCA": {}}}, "machines": [{"name": "on", "dataset": {"tags": ["a"], "data_provider": {"type": "RandomDataProvider"},
		"train_start_date": "2020-01-01T00:00:00Z", "train_end_date": "2020-02-01T00:00:00Z"}}]}`
	server := &projects{text: project}
	table, err := New(c, reach(t, server))
	if err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]string{"main": "pump-models-1f3c-0", "listed": "pumps-"} {
		payload := fmt.Sprintf(`{"ref": "refs/heads/%s", "after": "1f3c", "repository": {"full_name": "acme/pump-models", "name": "pump-models"}, "config": %s}`, branch, project)
		outcome, err := table.Hooks()["models"].Handed("push", "", json.RawMessage(payload))
		if err != nil {
			t.Fatal(err)
		}
		server.made = nil
		answer := table.Hooks()["models"].Act(t.Context(), outcome, table)
		decided := decisionsOf(t, answer)
		if len(server.made) != 1 || decided == "" || server.made[0].Name != decided || len(decided) < len(want) || decided[:len(want)] != want {
			t.Errorf("%s: made %d, decided %q: %+v", branch, len(server.made), decided, answer)
			continue
		}
		made := server.made[0]
		if made.Labels[owner.RunLabel] != made.Name || made.Annotations[argo.SourceAnnotation] == "" || made.Annotations[owner.Annotation] == "" {
			t.Errorf("%s: %+v", branch, made.ObjectMeta)
		}
	}
}

// decisionsOf gives the run that an answer tells of.
func decisionsOf(t *testing.T, answer hook.Answer) (run string) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Decisions []struct{ Run string } }
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	for _, d := range told.Decisions {
		run += d.Run
	}
	return run
}

func reach(t *testing.T, server http.Handler) *cluster.Cluster {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
		"clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {}}]}`, listening.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	on, err := cluster.Connect(file, "runs", "test")
	if err != nil {
		t.Fatal(err)
	}
	return on
}
