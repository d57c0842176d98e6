package submit

import (
	"cmp"
	"slices"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/strict"
)

// buildRight is the function whose right a run with a build needs.
const buildRight = "build-image"

// mayRun tells everything that a caller may not ask for in a run that is
// acceptable as such.
func mayRun(caller function.Caller, asked *run.Run, policy run.Policy) error {
	var denied fault.List
	if queue := cmp.Or(asked.Queue, policy.Queue); !caller.MayQueue(queue) {
		if queue == "" {
			denied.Add("queue", "the caller may not submit runs without a queue: name one")
		} else {
			denied.Add("queue", "the caller may not submit to the queue %s", queue)
		}
	}
	if !caller.MayPrioritise(asked.Priority) {
		denied.Add("priority", "the caller may not use the priority %s", asked.Priority)
	}
	if asked.Reserved && !caller.MaySchedule() {
		denied.Add("reserved", "the caller may not use reserved nodes: it lacks the right `scheduling`")
	}
	for i := range asked.Tasks {
		if len(asked.Tasks[i].Nodes) > 0 && !caller.MaySchedule() {
			denied.Add(strict.Index("tasks", i)+".nodes", "the caller may not pin tasks to nodes: it lacks the right `scheduling`")
		}
	}
	if asked.Build != nil {
		mayBuild(caller, asked.Build, policy.Registry, &denied)
	}
	// The lists of the config, narrowed to the caller's: where a run names
	// Secrets and claims is known in one place only.
	policy.Secrets = slices.DeleteFunc(slices.Clone(policy.Secrets), func(name string) bool { return !caller.MaySecret(name) })
	policy.Claims = slices.DeleteFunc(slices.Clone(policy.Claims), func(name string) bool { return !caller.MayClaim(name) })
	if err := asked.Check(policy); err != nil {
		for _, p := range fault.From(err).Problems {
			denied.Add(p.Path, "%s", p.Detail)
		}
	}
	return denied.Err(fault.Forbidden, "the caller "+caller.Name+" may not submit this run")
}

func mayBuild(caller function.Caller, build *run.Build, registry image.Registry, denied *fault.List) {
	if !caller.MayCall(buildRight) {
		denied.Add("build", "the caller may not build images: it lacks the function %s", buildRight)
	}
	if ref, err := registry.Parse(build.Ref); err == nil && !caller.MayPush(ref.Repository()) {
		denied.Add("build.ref", "the caller may not push to %s", ref.Repository())
	}
}
