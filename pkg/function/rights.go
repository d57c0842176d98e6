package function

import (
	"slices"
	"strings"
)

// The rights of a caller beyond its runs, which package owner knows. All are
// pure; a hook's call may everything, since the config's author wrote it.

// MayCall reports whether the caller may call a function.
func (c Caller) MayCall(name string) bool { return c.Everything || slices.Contains(c.Functions, name) }

// MayUseHook reports whether the caller may hand deliveries to a hook's routes.
func (c Caller) MayUseHook(path string) bool { return c.Everything || slices.Contains(c.Hooks, path) }

// MayQueue reports whether the caller may submit to a LocalQueue. A run
// without a queue, "", evades every quota and is a right of its own.
func (c Caller) MayQueue(queue string) bool { return c.Everything || slices.Contains(c.Queues, queue) }

// MayPrioritise reports whether the caller may name a priority; to name none is free.
func (c Caller) MayPrioritise(priority string) bool {
	return c.Everything || priority == "" || slices.Contains(c.Priorities, priority)
}

// MayPush reports whether the caller may push to an image repository, given
// without tag and digest: `reg/acme` covers `reg/acme` and what is below it,
// but not `reg/acme-secret`.
func (c Caller) MayPush(repository string) bool {
	return c.Everything || slices.ContainsFunc(c.Repositories, func(covered string) bool {
		return covered != "" && (repository == covered || strings.HasPrefix(repository, covered+"/"))
	})
}

// MaySecret reports whether the caller's runs may read a Secret.
func (c Caller) MaySecret(name string) bool { return c.Everything || slices.Contains(c.Secrets, name) }

// MayClaim reports whether the caller's runs may mount a PersistentVolumeClaim.
func (c Caller) MayClaim(name string) bool { return c.Everything || slices.Contains(c.Claims, name) }

// MaySchedule reports whether the caller may pin, reserve and unreserve nodes.
func (c Caller) MaySchedule() bool { return c.Everything || c.Scheduling }
