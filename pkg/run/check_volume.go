package run

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/strict"
)

var mountPath = regexp.MustCompile(`^/[A-Za-z0-9/._+@=,-]+$`)

// argoVolumes are the names that Argo adds to a pod.
var argoVolumes = []string{"var-run-argo", "tmp-dir-argo", "argo-env-config", "argo-staging", "input-artifacts", "kubeconfig", "exec-sa-token"}

func (c *checker) allVolumes() {
	for i := range c.run.Volumes {
		volume, at := &c.run.Volumes[i], strict.Index("volumes", i)
		if c.grammar(at+".name", volume.Name, validation.IsDNS1123Label) {
			switch {
			case c.volumes[volume.Name]:
				c.add(at+".name", "%s is the name of another volume", volume.Name)
			case slices.Contains(argoVolumes, volume.Name):
				c.add(at+".name", "%s is taken", volume.Name)
			}
		}
		c.volumes[volume.Name] = true
		c.volume(at, volume)
	}
}

// volume allows one source, of a kind and an object that the config lists.
func (c *checker) volume(at string, volume *corev1.Volume) {
	data, err := json.Marshal(volume.VolumeSource)
	var source map[string]any
	if err != nil || json.Unmarshal(data, &source) != nil {
		c.add(at, "cannot be written as JSON")
		return
	}
	if len(source) != 1 {
		c.add(at, "one source is asked for, such as persistentVolumeClaim or emptyDir")
	}
	for _, kind := range sorted(source) {
		path := strict.Key(at, kind)
		if !slices.Contains(c.policy.VolumeKinds, kind) {
			c.add(path, "this kind of volume is not allowed; the config lists: %s", strings.Join(c.policy.VolumeKinds, ", "))
			continue
		}
		c.source(path, "", source[kind])
	}
	if claim := volume.PersistentVolumeClaim; claim != nil && !slices.Contains(c.policy.Claims, claim.ClaimName) {
		c.add(at+".persistentVolumeClaim.claimName", "%s is not among the claims that may be used", quote(claim.ClaimName))
	}
	if volume.Secret != nil && volume.Secret.SecretName == "" {
		c.add(at+".secret.secretName", "names no Secret")
	}
}

// source walks what Kubernetes allows in a source: no text of it is free, be
// it a key or a value, a Secret is one of the list wherever one is asked for, no
// size is below nothing, and nobody is given credentials of the ServiceAccount
// or the data of a claim by way of a new one.
func (c *checker) source(path, key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, k := range sorted(v) {
			c.unexpanded(strict.Key(path, k), k)
			c.source(strict.Key(path, k), k, v[k])
		}
		if secretKeys[key] {
			name, _ := v["name"].(string)
			c.secretName(path+".name", name)
		}
		if key == "dataSource" || key == "dataSourceRef" {
			c.add(path, "a volume of a run begins empty")
		}
		if key == "serviceAccountToken" || key == "podCertificate" {
			c.add(path, "a run gets no credentials of the cluster")
		}
	case []any:
		for i, element := range v {
			c.source(strict.Index(path, i), "", element)
		}
	case string:
		if key == "secretName" {
			c.secretName(path, v)
		}
		if key == "volumeName" {
			c.add(path, "a volume of a run begins empty")
		}
		if key == "sizeLimit" || key == "storage" {
			c.quantity(path, Quantity(v), key)
		}
		c.unexpanded(path, v)
	}
}

func (c *checker) unexpanded(path, text string) {
	if strings.ContainsAny(text, "{}$\x00") {
		c.add(path, "%s: braces and `$` have a meaning of their own in a Workflow", quote(text))
	}
}

// secretKeys are the keys below which volume sources name a Secret.
var secretKeys = map[string]bool{"secret": true, "secretRef": true, "nodePublishSecretRef": true}

func (c *checker) secretName(path, name string) {
	if !slices.Contains(c.policy.Secrets, name) {
		c.add(path, "%s is not among the Secrets that may be used", quote(name))
	}
}

func (c *checker) secretKey(path string, key SecretKey) {
	c.secretName(path+".secret", key.Secret)
	c.grammar(path+".key", key.Key, func(text string) []string {
		if wrong := validation.IsConfigMapKey(text); len(wrong) > 0 {
			return []string{fmt.Sprintf("a key of a Secret is asked for: %s", wrong[0])}
		}
		return nil
	})
}
