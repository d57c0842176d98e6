package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
)

// target says where functions are called: at a server, with a token; or on a
// cluster itself, with the rights of a kubeconfig.
type target struct {
	server, tokenFile  string
	kubeconfig, config string
	namespace          string
	key                string
	dryRun             bool
}

func (t *target) flags(cmd *cobra.Command, sys System) {
	f := cmd.Flags()
	f.StringVar(&t.server, "server", sys.Getenv("RUNHOOK_URL"), "the URL of a runhook (default: RUNHOOK_URL)")
	f.StringVar(&t.tokenFile, "token-file", sys.Getenv("RUNHOOK_TOKEN_FILE"), "the file with its bearer token (default: RUNHOOK_TOKEN_FILE)")
	f.StringVar(&t.kubeconfig, "kubeconfig", "", "go straight to the cluster of this kubeconfig")
	f.StringVar(&t.namespace, "namespace", "runs", "the namespace of the runs, where no config says it")
	configFlag(cmd, sys, &t.config)
}

// invoke calls a function and gives its answer as JSON.
func (t *target) invoke(ctx context.Context, sys System, name string, request any) (json.RawMessage, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if t.server != "" && t.kubeconfig == "" {
		return t.overHTTP(ctx, sys, name, body)
	}
	return t.directly(ctx, sys, name, body)
}

// directly runs the function here. Whoever holds a kubeconfig could do all of
// it with kubectl: the cluster's RBAC is the limit, not the config's rights.
func (t *target) directly(ctx context.Context, sys System, name string, body []byte) (json.RawMessage, error) {
	c := config.Default()
	c.Namespace = t.namespace
	if t.config != "" {
		loaded, err := config.Load(t.config, sys.Getenv)
		if err != nil {
			return nil, err
		}
		c = *loaded
	}
	on, err := cluster.Connect(t.kubeconfig, c.Namespace, "runhook/"+sys.Version)
	if err != nil {
		return nil, err
	}
	table, err := functions.New(&c, on)
	if err != nil {
		return nil, err
	}
	response, err := table.Invoke(ctx, name, function.Call{
		Caller: function.Caller{Name: "kubeconfig", Everything: true},
		Body:   body, Key: t.key, DryRun: t.dryRun,
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(response.Body)
}

func (t *target) overHTTP(ctx context.Context, sys System, name string, body []byte) (json.RawMessage, error) {
	url := strings.TrimSuffix(t.server, "/") + "/functions/" + name
	if t.dryRun {
		url += "?dryRun=true"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, usage{err}
	}
	request.Header.Set("Content-Type", "application/json")
	if t.key != "" {
		request.Header.Set("Idempotency-Key", t.key)
	}
	if t.tokenFile != "" {
		token, err := secret.Ref{File: t.tokenFile}.Load(sys.Getenv)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+string(token.Bytes()))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the server cannot be reached: %v", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, limits.NodeStatus))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the server's answer broke off: %v", err)
	}
	if response.StatusCode/100 != 2 {
		return nil, problemOf(response, answer)
	}
	return answer, nil
}

// problemOf makes the fault again that the server has told.
func problemOf(response *http.Response, body []byte) error {
	var told struct {
		Kind   fault.Kind      `json:"kind"`
		Detail string          `json:"detail"`
		Errors []fault.Problem `json:"errors"`
	}
	if err := json.Unmarshal(body, &told); err != nil || told.Detail == "" {
		return fault.New(fault.BadUpstream, "the server answered %s, and not as runhook does: %.200q", response.Status, body)
	}
	return &fault.Error{Kind: told.Kind, Detail: told.Detail, Problems: told.Errors}
}
