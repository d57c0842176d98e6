package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

// local runs functions here. Whoever holds a kubeconfig could do all of it with
// kubectl: the cluster's RBAC is the limit, not the config's rights.
type local struct {
	table *functions.Table
	time  time.Duration
}

func newLocal(t *target, sys System) (*local, error) {
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
	if clientcmd.IsEmptyConfig(errors.Unwrap(err)) {
		return nil, usage{fault.New(fault.Invalid, "say where runhook is: --server URL, or RUNHOOK_URL; or --kubeconfig FILE for the cluster itself")}
	}
	if err != nil {
		return nil, usage{err}
	}
	table, err := functions.New(&c, on)
	if err != nil {
		return nil, err
	}
	return &local{table, c.Limits.FunctionTime.Duration}, nil
}

func (l *local) do(ctx context.Context, call call) (json.RawMessage, error) {
	f, ok := l.table.Find(call.name)
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no function %q", call.name)
	}
	body, err := json.Marshal(call.request)
	if err != nil {
		return nil, err
	}
	response, err := l.handle(ctx, f, function.Call{
		Caller: function.Caller{Name: "kubeconfig", Everything: true},
		Body:   body, Key: call.key, DryRun: call.dryRun, Text: call.text != nil,
	})
	if err != nil {
		return nil, err
	}
	if response.Stream != nil {
		return nil, response.Stream(ctx, call.text)
	}
	return json.Marshal(response.Body)
}

// handle gives a function its time, as a server does.
func (l *local) handle(ctx context.Context, f function.Function, call function.Call) (function.Response, error) {
	limit := l.time
	if f.Timeout > 0 {
		limit = f.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.Handle(ctx, call)
}
