package run

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// Check tells every mistake of a run, each with its path. An empty id is none:
// the caller makes one of the key.
func (r *Run) Check(p Policy) error {
	c := checker{run: r, policy: p, tasks: map[string]int{}, volumes: map[string]bool{}}
	c.wholeRun()
	c.allParams()
	c.env("env", r.Env)
	c.allVolumes()
	c.ids()
	for i := range r.Tasks {
		c.task(strict.Index("tasks", i), &r.Tasks[i])
	}
	c.workers()
	c.size()
	c.graph()
	detail := "the run is not acceptable"
	if c.problems.Len() >= limits.Problems {
		detail = fmt.Sprintf("%s; the first %d mistakes are", detail, limits.Problems)
	}
	return c.problems.Err(fault.Invalid, detail)
}

// checker gathers the mistakes of one run.
type checker struct {
	run      *Run
	policy   Policy
	problems fault.List
	tasks    map[string]int // first index by id
	volumes  map[string]bool
}

func (c *checker) add(path, format string, args ...any) {
	if c.problems.Len() < limits.Problems {
		c.problems.Add(path, format, args...)
	}
}

func (c *checker) wholeRun() {
	r := c.run
	if r.ID != "" {
		c.grammar("id", r.ID, validation.IsDNS1035Label)
	}
	if r.Queue != "" {
		c.grammar("queue", r.Queue, validation.IsDNS1123Subdomain)
		c.grammar("queue", r.Queue, validation.IsValidLabelValue)
	}
	if r.Priority != "" && !slices.Contains(c.policy.Priorities, r.Priority) {
		c.add("priority", "%s is no priority of the config; %s", quote(r.Priority), choose(c.policy.Priorities))
	}
	if r.Image != "" {
		c.image("image", r.Image)
	}
	if r.Build != nil {
		c.build(*r.Build)
	}
	if r.Deadline != "" {
		// Kubernetes counts deadlines of pods in 32 bits.
		c.duration("deadline", r.Deadline, time.Second, math.MaxInt32*time.Second)
	}
	if len(r.Tasks) == 0 {
		c.add("tasks", "at least one task is asked for")
	}
}

func (c *checker) build(b Build) {
	ref, err := c.policy.Registry.Parse(b.Ref)
	if err != nil {
		c.add("build.ref", "%s", fault.From(err).Detail)
	}
	var mistakes fault.List
	image.Build{Ref: ref, Git: &b.Git}.Check(c.policy.GitHosts, &mistakes)
	if err := mistakes.Err(fault.Invalid, "the build"); err != nil {
		for _, p := range fault.From(err).Problems {
			c.add(strict.Join("build", p.Path), "%s", p.Detail)
		}
	}
}

func (c *checker) allParams() {
	if c.tooMany("params", len(c.run.Params)) {
		return
	}
	by := map[string]string{} // param by env name
	for _, name := range sorted(c.run.Params) {
		path := strict.Key("params", name)
		if !paramName.MatchString(name) {
			c.add(path, "the name of a param is letters, digits, `_`, `-` and `.`, at most 63, and begins with none of the last two")
			continue
		}
		env := ParamEnv(name)
		if other, taken := by[env]; taken {
			c.add(path, "is %s in the environment, as is param %s", env, other)
		}
		by[env] = name
		c.freeText(path, c.run.Params[name])
		c.entry(path, env, c.run.Params[name])
	}
}

// ParamEnv is the environment variable of a param.
func ParamEnv(name string) string {
	return "RUNHOOK_PARAM_" + strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(name))
}

// workers counts them over the whole run, since the Workflow's status holds all.
func (c *checker) workers() {
	total := 0
	for i := range c.run.Tasks {
		if split := c.run.Tasks[i].Split; split != nil && split.Workers > 0 && split.Workers <= limits.Workers {
			total += split.Workers
		}
	}
	if total > limits.Workers {
		c.add("tasks", "%d workers together; a run has at most %d", total, limits.Workers)
	}
}

// size refuses what cannot fit into a Workflow before one is made: every program
// has all params and variables of the run, so that some KiB of params times some
// thousand tasks would fill any memory.
func (c *checker) size() {
	if max(len(c.run.Params), len(c.run.Env)) > limits.Variables {
		return // it is told
	}
	const brackets = len(`{"name":"","value":""}`)
	programs, shared := len(c.run.Tasks), 0
	for i := range c.run.Tasks {
		if split := c.run.Tasks[i].Split; split != nil && split.Merge != nil {
			programs++
		}
	}
	for name, text := range c.run.Params {
		shared += brackets + len(ParamEnv(name)) + len(text)
	}
	for name, value := range c.run.Env {
		shared += brackets + len(name) + len(value.Text)
	}
	if size := programs * (limits.Program + shared); size > limits.Workflow {
		c.add("tasks", "are at least %d bytes as a Workflow, each with the params and env of the run; at most %d fit", size, limits.Workflow)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
