// Package functions holds the table of all functions: HTTP, command line,
// RBAC, hooks and documentation are made from it. Each function is a folder
// below this one.
package functions

import (
	"context"

	"github.com/runhook/runhook/functions/alert"
	"github.com/runhook/runhook/functions/cancel"
	"github.com/runhook/runhook/functions/extra"
	"github.com/runhook/runhook/functions/generate"
	"github.com/runhook/runhook/functions/logs"
	"github.com/runhook/runhook/functions/nodes"
	"github.com/runhook/runhook/functions/placements"
	"github.com/runhook/runhook/functions/push"
	"github.com/runhook/runhook/functions/record"
	"github.com/runhook/runhook/functions/reserve"
	"github.com/runhook/runhook/functions/status"
	"github.com/runhook/runhook/functions/stop"
	"github.com/runhook/runhook/functions/submit"
	"github.com/runhook/runhook/functions/unreserve"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/image/registry"
)

// Table is every function, wired to a cluster and a config.
type Table struct {
	list  []function.Function
	hooks map[string]*hook.Hook
}

// New makes the table. Without a cluster (nil) requests can be checked and
// documentation made, and nothing can be called.
func New(c *config.Config, on *cluster.Cluster) (*Table, error) {
	asked := registry.New(Images(c).Registry, registry.FromSecret(on, Images(c).Registry))
	ending, cancelling := stop.New(on, c.Cluster.Foreign), cancel.New(on, c.Cluster.Foreign)
	t := &Table{list: []function.Function{
		submit.New(on, asked, ending, submitSettings(c)),
		status.New(on, statusSettings(c)),
		cancelling,
		ending,
		extra.New(on, extraSettings(c)),
		logs.New(on, c.Cluster.Foreign),
		listing(c, nodes.New(on, Capacity(c))),
		listing(c, placements.New(on, placementSettings(c))),
		reserve.New(on, reserveSettings(c)),
		unreserve.New(on, reserveSettings(c)),
		record.New(on, recordSettings(c)),
		listing(c, generate.New(on, cancelling, generateSettings(c))),
	}}
	t.list = append(t.list, images(c, on, asked)...)
	// Routes call what stands above; what hands deliveries to routes stands
	// below, so that no route can lead to itself.
	if err := t.compileHooks(c, on); err != nil {
		return nil, err
	}
	t.list = append(t.list, push.New(t.hooks, t), alert.New(t.hooks, t))
	for i, f := range t.list {
		if !f.DryRuns {
			t.list[i].Handle = refuseDryRun(f)
		}
	}
	return t, c.CheckFunctions(t.Names())
}

// refuseDryRun keeps a function from doing what it was asked only to try.
func refuseDryRun(f function.Function) func(context.Context, function.Call) (function.Response, error) {
	return func(ctx context.Context, call function.Call) (function.Response, error) {
		if call.DryRun {
			return function.Response{}, &fault.Error{
				Kind: fault.Invalid, Detail: "the request is not valid",
				Problems: []fault.Problem{{Path: "dryRun", Detail: f.Name + " has no dry run"}},
			}
		}
		return f.Handle(ctx, call)
	}
}

// All gives every function.
func (t *Table) All() []function.Function { return t.list }

// Hooks gives the compiled hooks by their path.
func (t *Table) Hooks() map[string]*hook.Hook { return t.hooks }

// Names gives the functions' names.
func (t *Table) Names() []string {
	names := make([]string, len(t.list))
	for i, f := range t.list {
		names[i] = f.Name
	}
	return names
}

// Find gives a function by its name.
func (t *Table) Find(name string) (function.Function, bool) {
	for _, f := range t.list {
		if f.Name == name {
			return f, true
		}
	}
	return function.Function{}, false
}

// Invoke calls a function by its name.
func (t *Table) Invoke(ctx context.Context, name string, call function.Call) (function.Response, error) {
	f, ok := t.Find(name)
	if !ok {
		return function.Response{}, fault.New(fault.NotFound, "there is no function %q", name)
	}
	return f.Handle(ctx, call)
}

// Access lists what all functions need of the cluster, and what telling callers needs.
func (t *Table) Access() []function.Access {
	// Tokens of ServiceAccounts are shown to the API server.
	all := []function.Access{{Group: "authentication.k8s.io", Resource: "tokenreviews", Verbs: []string{"create"}, Cluster: true}}
	for _, f := range t.list {
		all = append(all, f.Access...)
	}
	return all
}
