package image

import (
	"strings"

	"github.com/distribution/reference"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Reference is an image in the cluster's registry.
type Reference struct {
	host, repository, tag, digest string
}

// Parse reads a reference. Without tag and digest it means the tag `latest`;
// a tag beside a digest is ignored.
func (r Registry) Parse(text string) (Reference, error) {
	parsed, err := reference.Parse(text)
	if err != nil {
		return Reference{}, fault.Wrap(fault.Invalid, err, "%.*q is not an image reference: %v", limits.Quoted, text, err)
	}
	named, ok := parsed.(reference.Named)
	if !ok {
		return Reference{}, fault.New(fault.Invalid, "%.*q is not an image reference: it names no repository", limits.Quoted, text)
	}
	if r.Host == "" {
		return Reference{}, fault.New(fault.Invalid, "no registry is configured: set cluster.registry.host")
	}
	if reference.Domain(named) != r.Host {
		return Reference{}, fault.New(fault.Invalid, "%.*q is not in the registry of the cluster: begin with %s/", limits.Quoted, text, r.Host)
	}
	ref := Reference{host: r.Host, repository: reference.Path(named), tag: "latest"}
	if tagged, ok := parsed.(reference.Tagged); ok {
		ref.tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		ref.tag, ref.digest = "", digested.Digest().String()
	}
	return ref, nil
}

// Repository is the path below the registry.
func (r Reference) Repository() string { return r.repository }

// Digest is empty when the reference is a tag.
func (r Reference) Digest() string { return r.digest }

// String is the reference with its host.
func (r Reference) String() string {
	if r.digest != "" {
		return r.name() + "@" + r.digest
	}
	return r.name() + ":" + r.tag
}

func (r Reference) name() string { return r.host + "/" + r.repository }

// ManifestURL is where the registry has the image's manifest.
func (r Registry) ManifestURL(ref Reference) string {
	scheme, version := "https", ref.digest
	if r.PlainHTTP {
		scheme = "http"
	}
	if version == "" {
		version = ref.tag
	}
	return scheme + "://" + ref.host + "/v2/" + ref.repository + "/manifests/" + version
}

// Within reports whether the image lies in one of the repositories or below
// it, by whole segments: `reg/acme` covers `reg/acme` and `reg/acme/pump`, not
// `reg/acme-2`.
func (r Reference) Within(repositories []string) bool {
	for _, repository := range repositories {
		repository = strings.TrimSuffix(repository, "/")
		if repository != "" && (r.name() == repository || strings.HasPrefix(r.name(), repository+"/")) {
			return true
		}
	}
	return false
}
