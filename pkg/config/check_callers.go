package config

import (
	"maps"
	"slices"

	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

func (k *check) auth(c *Config) {
	names := map[string]bool{}
	for i := range c.Auth.Tokens {
		token, path := &c.Auth.Tokens[i], strict.Index("auth.tokens", i)
		k.required(path+".name", token.Name, label)
		k.unique(names, path+".name", token.Name)
		token.Value = k.secret(path, token.Ref)
		for _, earlier := range c.Auth.Tokens[:i] {
			if token.Value.Equal(string(earlier.Value.Bytes())) {
				k.mistakes.Add(path, "has the same token as %s; nobody could tell them apart", earlier.Name)
			}
		}
		k.rights(path, &token.Rights, c)
	}
	accounts := map[string]bool{}
	for i := range c.Auth.ServiceAccounts {
		account, path := &c.Auth.ServiceAccounts[i], strict.Index("auth.serviceAccounts", i)
		k.required(path+".namespace", account.Namespace, label)
		k.required(path+".name", account.Name, subdomain)
		k.unique(accounts, path, account.Namespace+"/"+account.Name)
		k.rights(path, &account.Rights, c)
	}
}

func (k *check) rights(path string, r *Rights, c *Config) {
	if r.Runs == "" {
		r.Runs = RunsOwn
	}
	k.oneOf(path+".runs", r.Runs, RunsOwn, RunsAll)
	k.each(path+".functions", r.Functions, label)
	k.each(path+".repositories", r.Repositories, repository)
	for i, queue := range r.Queues {
		k.optional(strict.Index(path+".queues", i), queue, subdomain)
	}
	var hooks []string
	for _, h := range c.Hooks {
		hooks = append(hooks, h.Path)
	}
	k.within(path+".hooks", r.Hooks, hooks, "hooks")
	k.within(path+".priorities", r.Priorities, slices.Collect(maps.Keys(c.Cluster.Priorities)), "cluster.priorities")
	k.within(path+".secrets", r.Secrets, c.Runs.Volumes.Secrets, "runs.volumes.secrets")
	k.within(path+".claims", r.Claims, c.Runs.Volumes.Claims, "runs.volumes.claims")
}

// hooks checks what concerns the hooks together, and reads their secrets; a
// hook by itself is checked where it is compiled.
func (k *check) hooks(c *Config) {
	if k.getenv != nil {
		c.HookSecrets = map[string][]secret.Value{}
	}
	paths := map[string]bool{}
	for i, h := range c.Hooks {
		path := strict.Index("hooks", i)
		k.required(path+".path", h.Path, label)
		k.unique(paths, path+".path", h.Path)
		refs, at := h.Secrets, func(j int) string { return strict.Index(path+".secrets", j) }
		switch {
		case h.Secret != nil && len(h.Secrets) > 0:
			k.mistakes.Add(path, "has both secret and secrets; list all under secrets")
			continue
		case h.Secret == nil && len(h.Secrets) == 0:
			k.mistakes.Add(path+".secret", "is missing; without it everybody could deliver")
			continue
		case h.Secret != nil:
			refs, at = []secret.Ref{*h.Secret}, func(int) string { return path + ".secret" }
		}
		for j, ref := range refs {
			if value := k.secret(at(j), ref); c.HookSecrets != nil {
				c.HookSecrets[h.Path] = append(c.HookSecrets[h.Path], value)
			}
		}
	}
}

// functions checks the names of functions, once they are known. `events` is
// the right to read the stream of events.
func (k *check) functions(c *Config, known []string) {
	callable := append(slices.Clone(known), EventsRight)
	for i, token := range c.Auth.Tokens {
		k.within(strict.Index("auth.tokens", i)+".functions", token.Functions, callable, "the list of functions")
	}
	for i, account := range c.Auth.ServiceAccounts {
		k.within(strict.Index("auth.serviceAccounts", i)+".functions", account.Functions, callable, "the list of functions")
	}
	for i, h := range c.Hooks {
		for j, route := range h.Routes {
			if !slices.Contains(known, route.Function) {
				k.mistakes.Add(strict.Index(strict.Index("hooks", i)+".routes", j)+".function", "%q is not in the list of functions", route.Function)
			}
		}
	}
}
