package config

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
)

// Cluster says how the cluster is set up.
type Cluster struct {
	// Queue is the LocalQueue of runs that name none; empty: they are not queued.
	Queue string `json:"queue"`
	// Priorities are those that a run may name.
	Priorities map[string]Priority `json:"priorities"`
	// Workers is the label key=value of nodes that run tasks.
	Workers string `json:"workers"`
	// Reservation is the key of taint and label of a reserved node.
	Reservation string `json:"reservation"`
	// RunLabel is the label of a pod of a run.
	RunLabel string `json:"runLabel"`
	// Executor is what Argo's containers request in each pod.
	Executor corev1.ResourceList `json:"executor"`
	// ServiceAccount is the one of Argo's executor.
	ServiceAccount string   `json:"serviceAccount"`
	Registry       Registry `json:"registry"`
	// Foreign says what is done with Workflows of others: none, read, all.
	Foreign owner.Foreign `json:"foreign"`
}

// Priority is a Kueue priority class, and a lower one for helpers.
type Priority struct {
	Class string `json:"class"`
	Extra string `json:"extra"`
}

// Registry is the cluster's image registry.
type Registry struct {
	Host      string `json:"host"`
	PlainHTTP bool   `json:"plainHTTP"`
	// Auth is the Secret (kubernetes.io/dockerconfigjson) for pulling and pushing.
	Auth string `json:"auth"`
	// TokenHosts may give tokens besides the registry's own host.
	TokenHosts []string `json:"tokenHosts"`
}

// Runs says what every run gets and may use.
type Runs struct {
	// Retries is how many attempts follow the first one, of whatever end.
	Retries int `json:"retries"`
	// TTL is how long an ended run's Workflow stays, with its pods and logs.
	TTL metav1.Duration `json:"ttl"`
	// PodGC is one of Argo's strategies; empty: pods stay with their Workflow.
	PodGC string `json:"podGC"`
	// Resources are requested for tasks that name none.
	Resources corev1.ResourceList `json:"resources"`
	Volumes   Volumes             `json:"volumes"`
	// SecurityContext is that of every main container.
	SecurityContext    *corev1.SecurityContext       `json:"securityContext"`
	PodSecurityContext *corev1.PodSecurityContext    `json:"podSecurityContext"`
	ImagePullSecrets   []corev1.LocalObjectReference `json:"imagePullSecrets"`
}

// Volumes lists what runs may mount and read.
type Volumes struct {
	Kinds []string `json:"kinds"`
	// Claims are PersistentVolumeClaims; Secrets are for volumes and env.
	Claims  []string `json:"claims"`
	Secrets []string `json:"secrets"`
}

// Build says how images are built.
type Build struct {
	// Address is buildkitd's, tcp://host:port.
	Address string `json:"address"`
	// Image holds buildctl.
	Image   string          `json:"image"`
	Timeout metav1.Duration `json:"timeout"`
	// GitHosts may be built from over https, PlainHosts over http.
	GitHosts   []string `json:"gitHosts"`
	PlainHosts []string `json:"plainHosts"`
}

// Gordo says what machine-learning projects may read.
type Gordo struct {
	// ConfigMaps may hold a project's config, or variables of its builders.
	ConfigMaps []string `json:"configMaps"`
}

// Default is what holds where a config says nothing.
func Default() Config {
	return Config{
		Listen:  ":8080",
		Metrics: ":9090",
		Cluster: Cluster{
			Workers:        "simrun/worker=true",
			Reservation:    "simrun/reserved",
			RunLabel:       "runhook/run",
			Executor:       resources("10m", "64Mi"),
			ServiceAccount: "runner",
			Foreign:        owner.ForeignRead,
		},
		Runs: Runs{
			Retries:   30,
			TTL:       metav1.Duration{Duration: 72 * time.Hour},
			Resources: resources("100m", "128Mi"),
			Volumes:   Volumes{Kinds: []string{"persistentVolumeClaim", "emptyDir"}},
		},
		Build: Build{
			Address: "tcp://buildkitd:1234",
			Image:   "moby/buildkit:v0.34.2",
			Timeout: metav1.Duration{Duration: 30 * time.Minute},
		},
		Limits: limits.Default(),
	}
}

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}
