package functions

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/runhook/runhook/functions/alert"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/once"
	"github.com/runhook/runhook/pkg/strict"
)

// compileHooks checks the hooks of the config against the functions, and tells
// all mistakes of all hooks with their lines. Without a cluster alerts are
// neither remembered nor turned into runs.
func (t *Table) compileHooks(c *config.Config, on *cluster.Cluster) error {
	t.hooks = map[string]*hook.Hook{}
	options := hook.Options{Functions: t.Names(), CheckRequest: t.checkShape, ValidateRequest: t.CheckRequest}
	options.WithoutSecrets = c.HookSecrets == nil
	if on != nil {
		options.Memory, options.Runs = once.New(on), alert.Selector{Cluster: on}
	}
	var wrong fault.List
	for i, spec := range c.Hooks {
		compiled, problems := hook.Compile(spec, c.HookSecrets[spec.Path], options)
		for _, p := range problems {
			wrong.Add(strict.Index("hooks", i)+"."+p.Path, "%s", p.Detail)
		}
		t.hooks[spec.Path] = compiled
	}
	return c.Locate(wrong.Err(fault.Invalid, "the hooks of the config are not right"))
}

// Replayer tells what saved deliveries would do.
func (t *Table) Replayer(c *config.Config) hook.Replayer {
	hooks := make([]*hook.Hook, 0, len(t.hooks))
	for _, spec := range c.Hooks {
		hooks = append(hooks, t.hooks[spec.Path])
	}
	return hook.Replayer{Hooks: hooks, BodyLimit: c.Limits.HookBody.Value(), Check: t.CheckRequest}
}

// checkShape says whether a request has the keys and types that a function takes.
func (t *Table) checkShape(name string, request json.RawMessage) error {
	f, ok := t.Find(name)
	if !ok {
		return fault.New(fault.Invalid, "there is no function %q", name)
	}
	return strict.JSON(request, reflect.New(reflect.TypeOf(f.Request)).Interface())
}

// CheckRequest says what can be said of a request without the cluster.
func (t *Table) CheckRequest(name string, request json.RawMessage) error {
	if err := t.checkShape(name, request); err != nil {
		return err
	}
	i := slices.Index(t.Names(), name)
	if check := t.list[i].Check; check != nil {
		return check(request)
	}
	return nil
}
