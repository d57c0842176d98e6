package image

import (
	"github.com/distribution/reference"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Reference is an image in the cluster's registry.
type Reference struct {
	host, path, tag, digest string
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
	ref := Reference{host: r.Host, path: reference.Path(named), tag: "latest"}
	if tagged, ok := parsed.(reference.Tagged); ok {
		ref.tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		ref.tag, ref.digest = "", digested.Digest().String()
	}
	return ref, nil
}

// Repository is the image without tag and digest, with the registry's host.
func (r Reference) Repository() string { return r.host + "/" + r.path }

// Path is the repository as the registry itself calls it.
func (r Reference) Path() string { return r.path }

// Digest is empty when the reference is a tag.
func (r Reference) Digest() string { return r.digest }

// String is the reference with its host.
func (r Reference) String() string {
	if r.digest != "" {
		return r.Repository() + "@" + r.digest
	}
	return r.Repository() + ":" + r.tag
}

// ManifestURL is where the registry has the image's manifest.
func (r Registry) ManifestURL(ref Reference) string {
	scheme, version := "https", ref.digest
	if r.PlainHTTP {
		scheme = "http"
	}
	if version == "" {
		version = ref.tag
	}
	return scheme + "://" + ref.host + "/v2/" + ref.path + "/manifests/" + version
}
