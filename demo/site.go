package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// site is the deployed runhook, and what it takes to talk to it.
type site struct {
	url, prometheusURL string
	secret             []byte
}

// tokenFile holds the token of a caller that may ask for status.
const tokenFile = "bin/deploy/demo-token"

// localSite reads what `localcluster env` and `make deploy` left.
func localSite() (site, error) {
	s := site{url: os.Getenv("RUNHOOK_URL"), prometheusURL: os.Getenv("RUNHOOK_PROMETHEUS")}
	if s.url == "" || s.prometheusURL == "" {
		return s, fmt.Errorf("RUNHOOK_URL or RUNHOOK_PROMETHEUS is not set: run `make demo`, or eval \"$(bin/localcluster env)\" first")
	}
	var err error
	if s.secret, err = os.ReadFile("bin/deploy/github-secret"); err != nil {
		return s, fmt.Errorf("runhook is not deployed here (run `make deploy`): %w", err)
	}
	return s, nil
}

// decision is what a hook says that it did.
type decision struct {
	Route   string `json:"route"`
	Call    string `json:"call"`
	Run     string `json:"run"`
	Created bool   `json:"created"`
}

func (s site) deliver(ctx context.Context, push []byte) (decision, error) {
	request, err := hooktest.GitHubRequest(s.url+"/hooks/acme", push, s.secret)
	if err != nil {
		return decision{}, err
	}
	var answer struct {
		Decisions []decision `json:"decisions"`
	}
	if err := call(request.WithContext(ctx), &answer); err != nil {
		return decision{}, err
	}
	if len(answer.Decisions) != 1 || answer.Decisions[0].Run == "" {
		return decision{}, fmt.Errorf("the hook started no run: %+v", answer.Decisions)
	}
	return answer.Decisions[0], nil
}

func call(request *http.Request, into any) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s answered %s: %s", request.Method, request.URL, response.Status, body)
	}
	return json.Unmarshal(body, into)
}

// workflowPhase asks the cluster, not runhook.
func workflowPhase(ctx context.Context, run string) (string, error) {
	out, err := exec.CommandContext(ctx, "kubectl", "-n", "runs", "get", "workflow", run, "-o", "jsonpath={.status.phase}").Output()
	return string(out), err
}

// goOn says what a person may type next.
func (s site) goOn(run string) string {
	return fmt.Sprintf(`
Go on from here, in this folder:

  eval "$(bin/localcluster env)"
  kubectl -n runs get workflow %[1]s -o yaml
  kubectl -n runs get pods -l workflows.argoproj.io/workflow=%[1]s
  kubectl -n runs logs -l workflows.argoproj.io/workflow=%[1]s,runhook/task=report -c main
  argo -n runs get %[1]s                    # where you have Argo's CLI
  bin/runhook status %[1]s --token-file %[4]s
  curl -H "Authorization: Bearer $(cat %[4]s)" "%[2]s/functions/status?run=%[1]s"
  curl -G "%[3]s/api/v1/query" --data-urlencode 'query=sum by (phase) (runhook_transitions_total)'
`, run, s.url, s.prometheusURL, tokenFile)
}
