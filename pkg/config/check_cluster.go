package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/strict"
)

func (k *check) cluster(c Cluster) {
	k.optional("cluster.queue", c.Queue, subdomain)
	for _, name := range slices.Sorted(maps.Keys(c.Priorities)) {
		path := strict.Key("cluster.priorities", name)
		k.required(path, name, label)
		k.required(path+".class", c.Priorities[name].Class, subdomain)
		k.optional(path+".extra", c.Priorities[name].Extra, subdomain)
	}
	key, value, found := strings.Cut(c.Workers, "=")
	if wrong := append(qualified(key), validation.IsValidLabelValue(value)...); !found || len(wrong) > 0 {
		k.mistakes.Add("cluster.workers", "%q is not a label key=value", c.Workers)
	}
	k.required("cluster.reservation", c.Reservation, qualified)
	k.required("cluster.runLabel", c.RunLabel, qualified)
	k.resources("cluster.executor", c.Executor, 0)
	k.required("cluster.serviceAccount", c.ServiceAccount, subdomain)
	k.registry(c.Registry)
	k.oneOf("cluster.foreign", string(c.Foreign), string(owner.ForeignNone), string(owner.ForeignRead), string(owner.ForeignAll))
}

func (k *check) registry(r Registry) {
	const path = "cluster.registry"
	if r.Host == "" && (r.PlainHTTP || r.Auth != "" || len(r.TokenHosts) > 0) {
		k.mistakes.Add(path+".host", "is missing")
	}
	k.optional(path+".host", r.Host, host)
	k.optional(path+".auth", r.Auth, subdomain)
	k.each(path+".tokenHosts", r.TokenHosts, host)
}

// resources checks names and sizes; memory must be enough for a container.
func (k *check) resources(path string, list corev1.ResourceList, leastMemory int64) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity, at := list[name], strict.Key(path, string(name))
		switch {
		case len(qualified(string(name))) > 0:
			k.mistakes.Add(at, "%q is not the name of a resource", string(name))
		case quantity.Sign() <= 0:
			k.mistakes.Add(at, "must be above 0")
		case name == corev1.ResourceMemory && quantity.Value() < leastMemory:
			k.mistakes.Add(at, "%s is below 4Mi, with which no container starts", quantity.String())
		}
	}
}

func (k *check) runs(r Runs) {
	// Argo keeps every attempt in the Workflow's status, which etcd bounds.
	const mostRetries = 1000
	if r.Retries < 0 || r.Retries > mostRetries {
		k.mistakes.Add("runs.retries", "must be from 0 to %d", mostRetries)
	}
	k.between("runs.ttl", r.TTL.Duration, time.Second, 10*365*24*time.Hour)
	if !wfv1.PodGCStrategy(r.PodGC).IsValid() {
		k.oneOf("runs.podGC", r.PodGC, string(wfv1.PodGCOnPodCompletion), string(wfv1.PodGCOnPodSuccess),
			string(wfv1.PodGCOnWorkflowCompletion), string(wfv1.PodGCOnWorkflowSuccess))
	}
	k.resources("runs.resources", r.Resources, limits.MinMemory)
	k.each("runs.volumes.kinds", r.Volumes.Kinds, volumeKind)
	k.each("runs.volumes.claims", r.Volumes.Claims, subdomain)
	k.each("runs.volumes.secrets", r.Volumes.Secrets, subdomain)
	for i, s := range r.ImagePullSecrets {
		k.required(strict.Index("runs.imagePullSecrets", i)+".name", s.Name, subdomain)
	}
}

// volumeKind knows the kinds of volumes by Kubernetes' own type.
func volumeKind(kind string) []string {
	source := reflect.TypeFor[corev1.VolumeSource]()
	for i := range source.NumField() {
		name, _, _ := strings.Cut(source.Field(i).Tag.Get("json"), ",")
		if name == kind {
			return nil
		}
	}
	return []string{"is not a kind of volume, as in persistentVolumeClaim"}
}

func (k *check) build(b Build) {
	address, isTCP := strings.CutPrefix(b.Address, "tcp://")
	if !isTCP || len(host(address)) > 0 || !strings.Contains(address, ":") {
		k.mistakes.Add("build.address", "%q is not tcp://host:port", b.Address)
	}
	k.given("build.image", b.Image)
	k.between("build.timeout", b.Timeout.Duration, time.Minute, 24*time.Hour)
	k.each("build.gitHosts", b.GitHosts, host)
	k.each("build.plainHosts", b.PlainHosts, host)
}
