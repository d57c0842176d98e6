package hook

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

// Options are what Compile must know of the rest of the program.
type Options struct {
	// Functions are the names that a route may call.
	Functions []string
	// CheckRequest checks keys and types of a function's request; nil: all are
	// right. Fields that `set` fills hold a sample of the right type.
	CheckRequest func(function string, request json.RawMessage) error
	// ValidateRequest checks what a request means; nil: anything goes. Its problems about fields
	// that `set` fills are not counted: the values come with a delivery.
	ValidateRequest func(function string, request json.RawMessage) error
	// WithoutSecrets checks a hook where its secrets are not. It proves nothing,
	// so that Accept takes no delivery.
	WithoutSecrets bool
	// Memory and Runs are what alerts act with; nil where nothing is done, as
	// in a replay.
	Memory Memory
	Runs   Runs
}

func (o Options) withDefaults() Options {
	anything := func(string, json.RawMessage) error { return nil }
	if o.CheckRequest == nil {
		o.CheckRequest = anything
	}
	if o.ValidateRequest == nil {
		o.ValidateRequest = anything
	}
	return o
}

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Compile checks everything of a hook that can be checked before a delivery
// comes. Paths of problems are relative to the hook.
func Compile(spec Spec, secrets []secret.Value, opts Options) (*Hook, []fault.Problem) {
	opts = opts.withDefaults()
	var problems fault.List
	h := &Hook{path: spec.Path, kind: spec.Provider, memory: opts.Memory, runs: opts.Runs}
	if !label.MatchString(spec.Path) {
		problems.Add("path", "%q is not a DNS label (a-z, 0-9, -)", spec.Path)
	}
	if opts.WithoutSecrets {
		secrets = nil
	} else {
		checkSecrets(secrets, &problems)
	}
	if spec.Provider != hmacName && (spec.Header != "" || spec.Algorithm != "" || spec.DeliveryHeader != "") {
		problems.Add("provider", "header, algorithm and deliveryHeader belong to the provider %s", hmacName)
	}
	if make, ok := Providers[spec.Provider]; ok {
		h.provider = make(&spec, secrets, &problems)
		h.compileRoutes(&spec, opts, &problems)
	} else {
		problems.Add("provider", "%q is none of %s", spec.Provider, strings.Join(slices.Sorted(maps.Keys(Providers)), ", "))
	}
	var refused *fault.Error
	if errors.As(problems.Err(fault.Invalid, "the hook cannot be used"), &refused) {
		return nil, refused.Problems
	}
	return h, nil
}

func checkSecrets(secrets []secret.Value, problems *fault.List) {
	if len(secrets) == 0 {
		problems.Add("secret", "a hook needs a secret: without one everybody could call it")
	}
	for i, value := range secrets {
		if len(value.Bytes()) == 0 {
			problems.Add(strict.Index("secrets", i), "the secret is empty")
		}
	}
}

func (h *Hook) compileRoutes(spec *Spec, opts Options, problems *fault.List) {
	if len(spec.Routes) == 0 {
		problems.Add("routes", "a hook without routes does nothing")
	}
	seen := map[string]bool{}
	for i := range spec.Routes {
		path := strict.Index("routes", i)
		r := &spec.Routes[i]
		if !label.MatchString(r.Name) {
			problems.Add(path+".name", "%q is not a DNS label (a-z, 0-9, -)", r.Name)
		} else if seen[r.Name] {
			problems.Add(path+".name", "%q is the name of another route too", r.Name)
		}
		seen[r.Name] = true
		h.routes = append(h.routes, h.compileRoute(path, r, opts, problems))
	}
}

func (h *Hook) compileRoute(path string, spec *RouteSpec, opts Options, problems *fault.List) route {
	r := route{
		name: h.path + "/" + spec.Name, label: spec.Name,
		branches:  compileGlobs(path+".branches", spec.Branches, problems),
		tags:      compileGlobs(path+".tags", spec.Tags, problems),
		paths:     compileGlobs(path+".paths", spec.Paths, problems),
		senders:   set(spec.IgnoreSenders),
		skipCI:    spec.SkipCI == nil || *spec.SkipCI,
		suspended: spec.Suspended, supersede: spec.Supersede, function: spec.Function,
	}
	r.events, r.allTags = h.compileEvents(path, spec, problems)
	if spec.When != "" {
		when, err := compileExpression(spec.When, environment)
		switch {
		case err != nil:
			problems.Add(path+".when", "%v", err)
		case !when.gives(cel.BoolType):
			problems.Add(path+".when", "gives a %s: a condition is true or false", when.kind)
		}
		r.when = &when
	}
	if spec.Supersede && spec.Function != submit {
		problems.Add(path+".supersede", "only runs can be superseded: the function must be %s", submit)
	}
	if spec.Select != nil {
		r.selection = h.compileSelect(path+".select", spec.Select, problems)
	}
	before := problems.Len()
	r.mapping = compileMapping(path, spec, opts, problems)
	switch {
	case !slices.Contains(opts.Functions, spec.Function):
		problems.Add(path+".function", "%q is none of %s", spec.Function, strings.Join(opts.Functions, ", "))
	case problems.Len() == before:
		checkRequest(path, spec.Function, r.mapping, opts, problems)
	}
	return r
}

// compileEvents checks that each name is a type or a name of the host, since a
// misspelt one would never match.
func (h *Hook) compileEvents(path string, spec *RouteSpec, problems *fault.List) (events map[string]bool, allTags bool) {
	if len(spec.Events) == 0 {
		return set([]string{string(h.provider.Default())}), false
	}
	for i, name := range spec.Events {
		at := strict.Index(path+".events", i)
		_, unsigned := h.provider.(pinger)
		switch {
		case unsigned && name == string(Ping):
			problems.Add(at, "%s does not sign its pings: they cannot call a function", h.kind)
		case !slices.Contains(eventTypes, Type(name)) && !h.provider.Knows(name):
			problems.Add(at, "%q is neither a type (push, tag, ping, alert, other) nor an event of %s", name, h.kind)
		}
	}
	events = set(spec.Events)
	asked := events[string(Tag)] || events[gitlabTagPush]
	return events, asked && len(spec.Branches) == 0 && len(spec.Tags) == 0
}

// checkRequest lets the function look at its request before a delivery does.
func checkRequest(path, function string, m mapping, opts Options, problems *fault.List) {
	sample, err := m.sample()
	if err != nil {
		problems.Add(path+".set", "%v", err)
		return
	}
	if err := m.check(sample); err != nil {
		addRequestProblems(path, err, m, func(string) bool { return false }, problems)
		return
	}
	if err := opts.ValidateRequest(function, sample); err != nil {
		addRequestProblems(path, err, m, m.fills, problems)
	}
}

func addRequestProblems(path string, err error, m mapping, excused func(string) bool, problems *fault.List) {
	f := fault.From(err)
	if len(f.Problems) == 0 {
		problems.Add(path+".request", "%s", f.Detail)
	}
	for _, p := range f.Problems {
		blamed, isSet := m.blame(p)
		switch {
		case p.Path == "":
			problems.Add(path+".request", "%s", p.Detail)
		case excused(p.Path):
		case isSet:
			problems.Add(strict.Join(path, blamed.Path), "%s", blamed.Detail)
		default:
			problems.Add(strict.Join(path+".request", p.Path), "%s", p.Detail)
		}
	}
}

func set(names []string) map[string]bool {
	members := make(map[string]bool, len(names))
	for _, name := range names {
		members[name] = true
	}
	return members
}
