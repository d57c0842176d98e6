package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNodesOfFiles(t *testing.T) {
	want, err := os.ReadFile("testdata/answer.json")
	if err != nil {
		t.Fatal(err)
	}
	got := runhook(t, "", "nodes", "-f", "testdata/nodes.json", "--pods", "testdata/pods.json", "-o", "json")
	if got.code != 0 || !sameJSON(t, got.out, string(want)) {
		t.Errorf("%+v", got)
	}
	got = runhook(t, "", "nodes", "-f", "testdata/pods.json", "--pods", "testdata/pods.json")
	if got.code != 1 || got.out != "" {
		t.Errorf("pods for nodes: %+v", got)
	}
}

const (
	aWorkflow = `{"kind":"Workflow","metadata":{"name":"a"},"spec":{"entrypoint":"run","templates":[{"name":"run","dag":{"tasks":[{"name":"fit","template":"fit"}]}},{"name":"fit"}]},
		"status":{"phase":"Running","nodes":{
		"a":{"name":"a","displayName":"a","type":"DAG","phase":"Running","templateName":"run","children":["a-1"]},
		"a-1":{"name":"a.fit","displayName":"fit","type":"Pod","phase":"Pending","boundaryID":"a","templateName":"fit"}}}}`
	aPod = `{"kind":"Pod","metadata":{"name":"a-fit-1","uid":"u","labels":{"workflows.argoproj.io/workflow":"a"},"annotations":{"workflows.argoproj.io/node-id":"a-1"}},
		"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}]}}`
)

func TestStatusOfFiles(t *testing.T) {
	pods := file(t, "pods.json", aPod)
	all := file(t, "list.json", `{"kind":"List","items":[`+aWorkflow+`,{"kind":"Workflow","metadata":{"name":"b"}}]}`)
	want := "TASK PHASE DETAIL\na Pending\nfit Pending queued"
	for name, args := range map[string][]string{
		"one":              {"-f", file(t, "w.json", aWorkflow), "--pods", pods},
		"several moments":  {"-f", file(t, "w.json", aWorkflow), "--pods", pods, "--pods", pods},
		"one of a list":    {"-f", all, "--run", "a", "--pods", pods},
		"one, and its run": {"-f", file(t, "w.json", aWorkflow), "--run", "a", "--pods", pods},
	} {
		got := runhook(t, "", append([]string{"status", "-o", "table"}, args...)...)
		if diff := cmp.Diff(want, strings.TrimSpace(squeezed(got.out))); got.code != 0 || !strings.HasPrefix(strings.TrimSpace(squeezed(got.out)), want) {
			t.Errorf("%s: %d %s %s", name, got.code, got.err, diff)
		}
	}
	helped := file(t, "helped.json", `{"kind":"List","items":[`+aWorkflow+`,{"kind":"Workflow","metadata":{"name":"a-extra-fit-0",
		"labels":{"runhook/extra-of":"a","runhook/task":"fit","runhook/extra":"0"}},"status":{"phase":"Running"}}]}`)
	if got := runhook(t, "", "status", "-o", "table", "-f", helped); got.code != 0 || !strings.Contains(squeezed(got.out), "fit.fit-extra-0 ") {
		t.Errorf("with a helper: %+v", got)
	}
	if got := runhook(t, aWorkflow, "cause", "-f", "-"); got.code != 0 || !sameJSON(t, got.out, `{"run":"a","attempts":[]}`) {
		t.Errorf("cause: %+v", got)
	}
	for name, args := range map[string][]string{
		"which one": {"-f", all}, "none of that name": {"-f", all, "--run", "c"}, "no pods": {"-f", all, "--run", "a", "--pods", all},
	} {
		if got := runhook(t, "", append([]string{"status"}, args...)...); got.code != 1 || got.out != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// 1 is a delivery that would be refused, and nothing else.
func TestReplayTellsARefusalFromAWrongCall(t *testing.T) {
	config := file(t, "config.yaml", `{namespace: runs, hooks: [{path: acme, provider: bearer, secret: {file: `+file(t, "secret", "lamp")+`},
		routes: [{name: train, function: cancel, set: {run: payload.run}}]}]}`)
	saved := func(token string) string {
		return file(t, "r.http", "POST /hooks/acme HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 11\r\nAuthorization: Bearer "+token+"\r\n\r\n{\"run\":\"a\"}")
	}
	for name, tc := range map[string]struct {
		request, config string
		code            int
	}{
		"taken":                 {saved("lamp"), config, 0},
		"refused":               {saved("other"), config, 1},
		"no request":            {file(t, "r.http", "hello"), config, 1},
		"a config that is away": {saved("lamp"), config + ".old", 2},
		"a config of no use":    {saved("lamp"), file(t, "config.yaml", `{namespace: runs, hook: []}`), 2},
		"a request that is not": {config + ".http", config, 2},
	} {
		got := runhook(t, "", "replay", tc.request, "-c", tc.config)
		if got.code != tc.code || json.Valid([]byte(got.out)) != (tc.code < 2) || (got.err == "") != (tc.code < 2) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestStraightToTheCluster(t *testing.T) {
	var patched string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPatch:
			body, _ := io.ReadAll(r.Body)
			patched = r.URL.Path + " " + string(body)
			fmt.Fprint(w, `{"kind":"Workflow","apiVersion":"argoproj.io/v1alpha1","metadata":{"name":"a"}}`)
		case strings.HasSuffix(r.URL.Path, "/workflows"):
			fmt.Fprint(w, `{"kind":"WorkflowList","apiVersion":"argoproj.io/v1alpha1","items":[]}`)
		default:
			fmt.Fprint(w, `{"kind":"Workflow","metadata":{"name":"a","labels":{"runhook/run":"a"},"annotations":{"runhook/caller":"somebody"}},"status":{"phase":"Running"}}`)
		}
	}))
	t.Cleanup(api.Close)
	kubeconfig := file(t, "kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}`, api.URL))
	got := runhook(t, "", "cancel", "a", "--kubeconfig", kubeconfig, "--namespace", "lab")
	if got.code != 0 || !json.Valid([]byte(got.out)) || !strings.Contains(got.out, `"changed": true`) {
		t.Errorf("%+v", got)
	}
	if want := `/apis/argoproj.io/v1alpha1/namespaces/lab/workflows/a {"spec":{"shutdown":"Terminate"}}`; patched != want {
		t.Errorf("patched %s, want %s", patched, want)
	}
	if got := runhook(t, "", "call", "nothing", "--kubeconfig", kubeconfig); got.code != 1 || !strings.Contains(got.err, "no function") {
		t.Errorf("%+v", got)
	}
}

// A run is rendered, and a config checked, where its secrets are not.
func TestWithoutSecrets(t *testing.T) {
	config := file(t, "config.yaml", `{namespace: runs, hooks: [{path: acme, provider: bearer, secret: {env: NOWHERE},
		routes: [{name: train, function: cancel, set: {run: payload.run}}]}]}`)
	asked := `{"image":"registry/acme/pump:1","tasks":[{"id":"fit","command":["true"],"resources":{"cpu":1,"memory":"1Gi"}}]}`
	if got := runhook(t, asked, "render", "-f", "-", "-c", config); got.code != 0 || !strings.Contains(got.out, "kind: Workflow") {
		t.Errorf("%+v", got)
	}
	if got := runhook(t, "", "check", "-c", config); got.code == 0 || got.out != "" || !strings.Contains(got.err, "NOWHERE is not set") {
		t.Errorf("check: %+v", got)
	}
	if got := runhook(t, "", "check", "-c", config, "--without-secrets"); got.code != 0 || got.out != "the config is right: 1 hook, 1 route, 0 sinks; no secret was looked up\n" {
		t.Errorf("check: %+v", got)
	}
	wrong := file(t, "config.yaml", `{namespace: runs, hooks: [{path: acme, provider: standard-webhooks, secret: {env: NOWHERE},
		routes: [{name: train, function: cancel, set: {run: event.nix}}]}]}`)
	if got := runhook(t, "", "check", "-c", wrong, "--without-secrets"); got.code == 0 || strings.Contains(got.err, "secret") || !strings.Contains(got.err, "undefined field 'nix'") {
		t.Errorf("check: %+v", got)
	}
}
