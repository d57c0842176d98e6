package gordo

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options is what the flags of `normalize` and `generate` say. Zero is not the
// default: ParseOptions gives that.
type Options struct {
	ConfigFile string // path of the config
	Project    string
	Revision   string // empty: the caller chooses one
	Template   string // path of a Jinja template in place of the Workflow
	OutputFile string

	OwnerReferences []metav1.OwnerReference
	Namespace       string // empty: none is written
	SplitWorkflows  int    // machines of one Workflow; below 0: nothing is made

	GordoVersion string
	Registry     string
	Repository   string
	PullPolicy   string // empty: by the version

	RetryDuration string
	RetryFactor   int

	Servers           int // most replicas of the server; 0: ten for each machine
	ServerWorkers     int // 0: the server's own choice
	ServerThreads     int
	ProbeTimeout      int
	ReadinessDelay    int
	LivenessDelay     int
	GracePeriod       int
	TargetCPU         int
	WithoutPrometheus bool
	MetricsWorkers    int

	WithKeda          bool
	Scaler            string // none, k8s_cpu or keda
	PrometheusAddress string
	KedaMetric        string
	KedaQuery         string
	KedaThreshold     string

	BuilderEnv      []any // as in a config's runtime.builder.env
	BuilderClass    string
	ResourcesLabels map[string]string
	BuilderLabels   map[string]string
	ServerLabels    map[string]string

	SecurityContext    *corev1.SecurityContext
	PodSecurityContext *corev1.PodSecurityContext

	DefaultProvider string
	ArgoBinary      string // empty: no program is asked
	LogLevel        string

	Warnings []Warning // of the flags themselves
}

// The kinds of scalers of the server.
const (
	ScalerNone = "none"
	ScalerCPU  = "k8s_cpu"
	ScalerKeda = "keda"
)

// Normal is what normalising takes of the options.
func (o *Options) Normal() Normal {
	return Normal{Project: o.Project, Version: o.GordoVersion, DefaultProvider: o.DefaultProvider, BuilderEnv: o.BuilderEnv}
}
