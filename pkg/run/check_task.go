package run

import (
	"math"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

func (c *checker) task(at string, t *Task) {
	c.needs(at, t)
	if t.Image == "" && c.run.image() == "" {
		c.add(at+".image", "the task names no image, nor does the run")
	}
	c.program(at, &t.Program)
	for i, node := range t.Nodes {
		c.grammar(strict.Index(at+".nodes", i), node, validation.IsDNS1123Subdomain)
	}
	if t.Split == nil {
		if len(t.Nodes) > 1 {
			c.add(at+".nodes", "a task that is not split runs on one node; name one")
		}
		return
	}
	c.split(at+".split", t.Split)
}

func (c *checker) split(at string, s *Split) {
	if s.Workers < 1 || s.Workers > limits.Workers {
		c.add(at+".workers", "%d is not between 1 and %d", s.Workers, limits.Workers)
	}
	if s.Extra < 0 || s.Extra > limits.Workers {
		c.add(at+".extra", "%d is not between 0 and %d", s.Extra, limits.Workers)
	}
	if s.Merge != nil {
		c.program(at+".merge", s.Merge)
	}
}

func (c *checker) program(at string, p *Program) {
	if p.Image != "" {
		c.image(at+".image", p.Image)
	}
	c.words(at+".command", p.Command)
	c.words(at+".args", p.Args)
	c.env(at+".env", p.Env)
	c.resources(at, p)
	if p.Retry != nil {
		if p.Retry.Failures < 0 || p.Retry.Failures > limits.Failures {
			c.add(at+".retry.failures", "%d is not between 0 and %d", p.Retry.Failures, limits.Failures)
		}
		if p.Retry.Backoff != "" {
			c.duration(at+".retry.backoff", p.Retry.Backoff, time.Second, 24*time.Hour)
		}
	}
	c.mounts(at+".mounts", p.Mounts)
}

func (c *checker) resources(at string, p *Program) {
	for _, name := range sorted(p.Resources) {
		path := strict.Key(at+".resources", name)
		if wrong := wrongResource(name); wrong != "" {
			c.add(path, "%s", wrong)
			continue
		}
		value := c.quantity(path, p.Resources[name], name)
		if strings.Contains(name, "/") && value > 0 && value != math.Trunc(value) {
			c.add(path, "is counted in whole numbers")
		}
	}
	if p.MaxMemory == "" {
		return
	}
	most := c.quantity(at+".maxMemory", p.MaxMemory, memory)
	least, named := orResources(p.Resources, c.policy.Resources)[memory]
	if !named {
		c.add(at+".maxMemory", "needs resources.memory to start with")
		return
	}
	if parsed, ok := least.Parse(); ok && most > 0 && most < parsed.AsApproximateFloat64() {
		c.add(at+".maxMemory", "%s is below resources.memory, %s", p.MaxMemory, least)
	}
}

const memory = "memory"

// quantity gives an amount, 0 when it was refused.
func (c *checker) quantity(path string, q Quantity, name string) float64 {
	parsed, ok := q.Parse()
	switch {
	case !ok:
		c.add(path, "%s is no quantity such as 500m or 8Gi", quote(string(q)))
	case parsed.Sign() <= 0:
		c.add(path, "%s is not above 0", q)
	case name == memory && parsed.CmpInt64(limits.MinMemory) < 0:
		c.add(path, "%s is below 4Mi, the least a container is given; memory is counted in bytes: 8Gi, not 8", q)
	default:
		return parsed.AsApproximateFloat64()
	}
	return 0
}

// wrongResource says why Kubernetes takes no requests of this name.
func wrongResource(name string) string {
	switch {
	case name == "cpu" || name == memory || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-"):
	case !strings.Contains(name, "/") || strings.HasPrefix(name, "requests."):
		return "is no resource; others than cpu, memory and ephemeral-storage are named domain/name"
	}
	for _, wrong := range validation.IsQualifiedName(name) {
		return wrong
	}
	return ""
}

// argo's own folders in a container.
var argoPaths = []string{"/var/run/argo", "/argo"}

func (c *checker) mounts(at string, mounts []Mount) {
	taken := map[string]bool{}
	for i, mount := range mounts {
		here := strict.Index(at, i)
		if !c.volumes[mount.Name] {
			c.add(here+".name", "%s is no volume of the run", quote(mount.Name))
		}
		clean := path.Clean(mount.Path)
		switch {
		case !mountPath.MatchString(mount.Path) || strings.Contains(mount.Path, "..") || clean == "/":
			c.add(here+".path", "%s is no absolute path of letters, digits and `/._+@=,-`", quote(mount.Path))
			continue
		case taken[clean]:
			c.add(here+".path", "%s is mounted twice", quote(mount.Path))
		}
		taken[clean] = true
		for _, folder := range argoPaths {
			if clean == folder || strings.HasPrefix(clean, folder+"/") {
				c.add(here+".path", "%s belongs to Argo", folder)
			}
		}
	}
}
