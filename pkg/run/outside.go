package run

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
)

// CheckVolume tells what the policy has against a volume that stands elsewhere
// than in a run.
func (p Policy) CheckVolume(path string, volume *corev1.Volume, problems *fault.List) {
	c := checker{policy: p}
	if slices.Contains(argoVolumes, volume.Name) {
		c.add(path+".name", "%s is taken", volume.Name)
	}
	c.volume(path, volume)
	c.move(problems)
}

// CheckSecret tells whether the policy lists a Secret.
func (p Policy) CheckSecret(path, name string, problems *fault.List) {
	c := checker{policy: p}
	c.secretName(path, name)
	c.move(problems)
}

func (c *checker) move(to *fault.List) {
	if err := c.problems.Err(fault.Invalid, ""); err != nil {
		for _, p := range fault.From(err).Problems {
			to.Add(p.Path, "%s", p.Detail)
		}
	}
}
