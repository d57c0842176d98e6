// Package registry asks the cluster's registry for an image. It calls no
// address but the registry's and its token hosts', whatever a reply says, and
// reads no more of a reply than it needs.
package registry

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/opencontainers/go-digest"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
)

// Client asks one registry.
type Client struct {
	registry image.Registry
	login    Login
	http     *http.Client
}

// New makes a client. The login is asked for only when the registry wants one.
func New(registry image.Registry, login Login) *Client {
	direct := &http.Transport{
		Proxy:                  nil, // a proxy would be another address
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: limits.RegistryHead,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        limits.IdleTime,
		DisableCompression:     true, // a manifest is hashed as it is sent
	}
	return newClient(registry, login, direct)
}

func newClient(registry image.Registry, login Login, direct http.RoundTripper) *Client {
	return &Client{
		registry: registry,
		login:    login,
		// Every request passes the list of hosts, the second try of one too.
		http: &http.Client{Transport: patient{allowed{direct, registry}}, CheckRedirect: sameHost},
	}
}

// accept lists every kind of manifest: a registry answers 404 to one that is
// of none of them.
var accept = strings.Join([]string{
	string(types.OCIImageIndex), string(types.DockerManifestList),
	string(types.OCIManifestSchema1), string(types.DockerManifestSchema2),
}, ", ")

// Digest says whether the registry has an image, and its digest. Whatever is
// neither found nor not found is a fault.
func (c *Client) Digest(ctx context.Context, ref image.Reference) (found string, exists bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limits.RegistryTime)
	defer cancel()
	s := session{Client: c, ref: ref}
	response, err := s.ask(ctx, http.MethodHead)
	if err != nil {
		return "", false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		found, err = s.digest(ctx, response)
		return found, err == nil, err
	case http.StatusNotFound:
		return "", false, nil
	default:
		return "", false, said(response, "the registry "+c.registry.Host)
	}
}

// session is one question about one image, with the authorization that the
// registry asked for.
type session struct {
	*Client
	ref           image.Reference
	authorization string
}

// ask asks for the manifest, and once more when the registry first wants to
// know who asks.
func (s *session) ask(ctx context.Context, method string) (*http.Response, error) {
	response, err := s.send(ctx, method)
	if err != nil || response.StatusCode != http.StatusUnauthorized || s.authorization != "" {
		return response, err
	}
	response.Body.Close()
	s.authorization, err = s.authorize(ctx, parseChallenges(response.Header.Values("WWW-Authenticate")))
	if err != nil {
		return nil, err
	}
	return s.send(ctx, method)
}

func (s *session) send(ctx context.Context, method string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.registry.ManifestURL(s.ref), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if s.authorization != "" {
		request.Header.Set("Authorization", s.authorization)
	}
	return s.do(request, "the registry "+s.registry.Host)
}

// do sends a request to whom, and says what it means when nothing comes back.
func (c *Client) do(request *http.Request, whom string) (*http.Response, error) {
	response, err := c.http.Do(request)
	if err == nil {
		return response, nil
	}
	var refused *fault.Error
	if errors.As(err, &refused) {
		return nil, refused
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.Wrap(fault.BadUpstream, err, "%s did not answer in time", whom)
	}
	// url.Error would say the whole URL; what it wraps says what happened.
	reason := err
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		reason = wrapped.Err
	}
	return nil, fault.Wrap(fault.BadUpstream, err, "%s did not answer: %.*s", whom, limits.Quoted, reason.Error())
}

// digest is what the registry says, or what its manifest hashes to where it
// says nothing.
func (s *session) digest(ctx context.Context, head *http.Response) (string, error) {
	said := digest.Digest(head.Header.Get("Docker-Content-Digest"))
	if said == "" {
		var err error
		if said, err = s.hash(ctx); err != nil {
			return "", err
		}
	}
	if err := said.Validate(); err != nil {
		return "", fault.Wrap(fault.BadUpstream, err, "the registry %s gives %.*q for a digest", s.registry.Host, limits.Quoted, string(said))
	}
	if want := s.ref.Digest(); want != "" && said.String() != want {
		return "", fault.New(fault.BadUpstream, "the registry %s answers for %s with %s", s.registry.Host, want, said)
	}
	return said.String(), nil
}

// hash reads the manifest and hashes it, by the algorithm that was asked for.
func (s *session) hash(ctx context.Context) (digest.Digest, error) {
	response, err := s.ask(ctx, http.MethodGet)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", said(response, "the registry "+s.registry.Host)
	}
	body, err := read(response.Body, limits.Manifest)
	if err != nil {
		return "", fault.Wrap(fault.BadUpstream, err, "the manifest of %s: %v", s.ref, err)
	}
	algorithm := digest.Canonical
	if want := s.ref.Digest(); want != "" {
		algorithm = digest.Digest(want).Algorithm()
	}
	return algorithm.FromBytes(body), nil
}

// said makes a fault of an answer that is neither yes nor no.
func said(response *http.Response, whom string) error {
	f := fault.New(fault.BadUpstream, "%s answered %s", whom, response.Status)
	if text, err := read(response.Body, limits.RegistryToken); err == nil && len(text) > 0 {
		f.Detail += ": " + printable(text)
	}
	f.RetryAfter, _ = retryAfter(response, time.Now())
	return f
}
