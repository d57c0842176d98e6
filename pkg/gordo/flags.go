package gordo

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/version"
	"github.com/runhook/runhook/pkg/limits"
)

// Flag is one flag of `normalize` and `generate`.
type Flag struct {
	Name    string
	Env     string // variable that stands in for the flag; empty: none
	Default string
	Usage   string
	Switch  bool // takes no value
	Local   bool // names a file or a program of the machine it runs on
	Normal  bool // has an effect on normalising; the others are taken and ignored there
	set     func(o *Options, value string) error
}

// Flags lists every flag, in the order in which mistakes are told.
var Flags = []Flag{
	local("machine-config", "path of the config", "", true, func(o *Options) *string { return &o.ConfigFile }),
	{Name: "project-name", Env: envName("project-name"), Usage: "name of the project", Normal: true, set: func(o *Options, v string) error { o.Project = v; return nil }},
	{Name: "project-revision", Env: envName("project-revision"), Usage: "revision of the project (default: milliseconds of the clock)", set: revision},
	local("workflow-template", "Jinja template in place of the Workflow", "", false, func(o *Options) *string { return &o.Template }),
	{Name: "owner-references", Env: envName("owner-references"), Usage: "owners of everything that is made, as YAML or JSON", set: ownerReferences},
	{Name: "gordo-version", Env: envName("gordo-version"), Default: version.Gordo, Usage: "version of gordo's images", set: gordoVersion},
	local("output-file", "file to write to in place of the standard output", "", true, func(o *Options) *string { return &o.OutputFile }),
	{Name: "namespace", Env: envName("namespace"), Usage: "namespace of everything that is made (default: where it is submitted)", set: namespace},
	integer("split-workflows", "30", "machines of one Workflow", func(o *Options) *int { return &o.SplitWorkflows }, notZero),
	integer("n-servers", "0", "most replicas of the server; 0: ten for each machine", func(o *Options) *int { return &o.Servers }, notNegative),
	text("docker-registry", "ghcr.io", "registry of the images", func(o *Options) *string { return &o.Registry }),
	text("docker-repository", "equinor", "repository of the images", func(o *Options) *string { return &o.Repository }),
	{Name: "retry-backoff-duration", Env: envName("retry-backoff-duration"), Default: "15s", Usage: "first wait before another try", set: retryDuration},
	integer("retry-backoff-factor", "2", "what the wait grows by", func(o *Options) *int { return &o.RetryFactor }, notNegative),
	integer("gordo-server-workers", "0", "workers of the server; 0: its own choice", func(o *Options) *int { return &o.ServerWorkers }, notNegative),
	integer("gordo-server-threads", "0", "threads of the server; 0: its own choice", func(o *Options) *int { return &o.ServerThreads }, notNegative),
	period("gordo-server-probe-timeout", 5, "seconds of a probe of the server", func(o *Options) *int { return &o.ProbeTimeout }),
	period("gordo-server-readiness-initial-delay", 5, "seconds before the first readiness probe", func(o *Options) *int { return &o.ReadinessDelay }),
	period("gordo-server-liveness-initial-delay", 600, "seconds before the first liveness probe", func(o *Options) *int { return &o.LivenessDelay }),
	period("server-termination-grace-period", 60, "seconds to end a server", func(o *Options) *int { return &o.GracePeriod }),
	integer("server-target-cpu-utilization-percentage", "50", "CPU use at which the server scales", func(o *Options) *int { return &o.TargetCPU }, notNegative),
	toggle("without-prometheus", "no metrics of the server", func(o *Options) *bool { return &o.WithoutPrometheus }),
	period("prometheus-metrics-server-workers", 1, "workers of the metrics container", func(o *Options) *int { return &o.MetricsWorkers }),
	{Name: "image-pull-policy", Env: envName("image-pull-policy"), Usage: "pull policy of the images (default: by the version)", set: pullPolicy},
	toggle("with-keda", "templates that scale with KEDA", func(o *Options) *bool { return &o.WithKeda }),
	{Name: "ml-server-hpa-type", Env: envName("ml-server-hpa-type"), Default: ScalerCPU, Usage: "what scales the server: none, k8s_cpu or keda", set: scaler},
	text("prometheus-server-address", "", "address of Prometheus, for KEDA", func(o *Options) *string { return &o.PrometheusAddress }),
	text("keda-prometheus-metric-name", "gordo_server_request_duration_seconds_count", "metric of the KEDA trigger", func(o *Options) *string { return &o.KedaMetric }),
	{Name: "keda-prometheus-query", Env: envName("keda-prometheus-query"), Default: `sum(rate(gordo_server_request_duration_seconds_count{project=~"{{project_name}}",path=~".*prediction"}[30s]))`, Usage: "query of the KEDA trigger; {{project_name}} is replaced", set: func(o *Options, v string) error { o.KedaQuery = v; return nil }},
	text("keda-prometheus-threshold", "1.0", "threshold of the KEDA trigger", func(o *Options) *string { return &o.KedaThreshold }),
	{Name: "custom-model-builder-envs", Env: envName("custom-model-builder-envs"), Default: "[]", Usage: "environment of the builder, as a JSON list", Normal: true, set: builderEnvs},
	labels("resources-labels", envName("resource-labels"), "labels of everything that is made, as JSON", reservedLabels, func(o *Options) *map[string]string { return &o.ResourcesLabels }),
	labels("model-builder-labels", envName("model-builder-labels"), "labels of the builder's pods, as JSON", reservedLabels, func(o *Options) *map[string]string { return &o.BuilderLabels }),
	labels("server-labels", envName("server-labels"), "labels of the server and its pods, as JSON", reservedServerLabels, func(o *Options) *map[string]string { return &o.ServerLabels }),
	{Name: "security-context", Env: envName("security-context"), Usage: "security context of the containers, as JSON", set: securityContext},
	{Name: "pod-security-context", Env: envName("pod-security-context"), Usage: "security context of the pods, as JSON", set: podSecurityContext},
	{Name: "default-data-provider", Env: envName("default-data-provider"), Usage: "data provider of datasets that name none", Normal: true, set: func(o *Options, v string) error { o.DefaultProvider = v; return nil }},
	{Name: "model-builder-class", Env: "MODEL_BUILDER_CLASS", Usage: "class that builds the models", set: func(o *Options, v string) error { o.BuilderClass = v; return nil }},
	{Name: "argo-binary", Local: true, Usage: "program that is asked for Argo's version: argo, argo2 or argo3 (default: Argo 3, nothing is asked)", set: argoBinary},
	{Name: "log-level", Env: "GORDO_LOG_LEVEL", Default: "INFO", Usage: "log level of gordo, unless the config says another", set: func(o *Options, v string) error {
		level, err := LogLevel(v)
		o.LogLevel = level
		return err
	}},
}

func envName(flag string) string {
	return "WORKFLOW_GENERATOR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func text(name, fallback, usage string, field func(*Options) *string) Flag {
	return Flag{Name: name, Env: envName(name), Default: fallback, Usage: usage, set: func(o *Options, v string) error {
		*field(o) = v
		if strings.Contains(v, "{{") {
			return errors.New("must not hold {{: Argo would expand it")
		}
		return nil
	}}
}

func local(name, usage, fallback string, env bool, field func(*Options) *string) Flag {
	f := Flag{Name: name, Default: fallback, Usage: usage, Local: true, set: func(o *Options, v string) error {
		*field(o) = v
		return nil
	}}
	if env {
		f.Env = envName(name)
	}
	return f
}

func integer(name, fallback, usage string, field func(*Options) *int, check func(int) error) Flag {
	return Flag{Name: name, Env: envName(name), Default: fallback, Usage: usage, set: func(o *Options, v string) error {
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return fmt.Errorf("%.100q is not a whole number", v)
		}
		*field(o) = n
		return check(n)
	}}
}

func notNegative(n int) error {
	if n < 0 || n > limits.GordoNumber {
		return fmt.Errorf("must be between 0 and %d", limits.GordoNumber)
	}
	return nil
}

func notZero(n int) error {
	if n == 0 {
		return errors.New("must not be 0: say how many machines one Workflow takes")
	}
	return nil
}

// period is a number for which 0 counts as not given.
func period(name string, fallback int, usage string, field func(*Options) *int) Flag {
	f := integer(name, strconv.Itoa(fallback), usage, field, notNegative)
	read := f.set
	f.set = func(o *Options, v string) error {
		err := read(o, v)
		if *field(o) == 0 {
			*field(o) = fallback
		}
		return err
	}
	return f
}

var switchWords = map[string]bool{
	"1": true, "true": true, "t": true, "yes": true, "y": true, "on": true,
	"": false, "0": false, "false": false, "f": false, "no": false, "n": false, "off": false,
}

func toggle(name, usage string, field func(*Options) *bool) Flag {
	return Flag{Name: name, Env: envName(name), Usage: usage, Switch: true, set: func(o *Options, v string) error {
		b, ok := switchWords[strings.ToLower(strings.TrimSpace(v))]
		if !ok {
			return fmt.Errorf("%.100q is neither true nor false", v)
		}
		*field(o) = b
		return nil
	}}
}

var argoForm = regexp.MustCompile(`^argo[0-9]*$`)

func argoBinary(o *Options, v string) error {
	if v != "" && !argoForm.MatchString(v) {
		return fmt.Errorf("%.100q is not argo with digits behind it", v)
	}
	o.ArgoBinary = v
	return nil
}

// Lookup finds what is given for a flag.
type Lookup func(f Flag) (value string, ok bool)

// ParseOptions reads every flag from where lookup finds it, else from its
// default, and tells every mistake with the flag as path.
func ParseOptions(lookup Lookup) (Options, error) {
	o, list := parse(lookup, func(Flag) bool { return true })
	checkKeda(&o, list)
	return o, list.Err(fault.Invalid, "the flags are not valid")
}

// ParseNormal reads the flags for normalising: what has no effect there may be
// anything.
func ParseNormal(lookup Lookup) (Options, error) {
	o, list := parse(lookup, func(f Flag) bool { return f.Normal })
	return o, list.Err(fault.Invalid, "the flags are not valid")
}

func parse(lookup Lookup, counts func(Flag) bool) (Options, *fault.List) {
	var o Options
	list := &fault.List{}
	for _, f := range Flags {
		value, ok := lookup(f)
		if !ok {
			value = f.Default
		}
		err := f.set(&o, value)
		if err == nil || !counts(f) {
			continue
		}
		var problems *fault.Error
		if errors.As(err, &problems) && len(problems.Problems) > 0 {
			for _, p := range problems.Problems {
				list.Add(flagPath(f, p.Path), "%s", p.Detail)
			}
			continue
		}
		list.Add(flagPath(f, ""), "%v", err)
	}
	return o, list
}
