package registry

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

// allowed refuses every request that goes elsewhere than to the registry or
// its token hosts: a registry's reply names addresses, and may be a lie.
type allowed struct {
	next     http.RoundTripper
	registry image.Registry
}

func (a allowed) RoundTrip(request *http.Request) (*http.Response, error) {
	if problem := a.problem(request.URL); problem != "" {
		return nil, fault.New(fault.BadUpstream, "the registry %s sends to %s://%s, %s", a.registry.Host, request.URL.Scheme, request.URL.Host, problem)
	}
	return a.next.RoundTrip(request)
}

func (a allowed) problem(to *url.URL) string {
	switch {
	case to.User != nil:
		return "with a user in the address, which is not taken"
	case to.Host != a.registry.Host && !slices.Contains(a.registry.TokenHosts, to.Host):
		return "which is neither itself nor one of cluster.registry.tokenHosts of the config"
	case to.Scheme != "https" && (to.Scheme != "http" || !a.registry.PlainHTTP):
		return "which is not https; only a registry with cluster.registry.plainHTTP may do without"
	}
	return ""
}

// sameHost lets a registry send on within itself only: a redirect carries the
// authorization along.
func sameHost(request *http.Request, via []*http.Request) error {
	first := via[0].URL
	if request.URL.Host != first.Host || request.URL.Scheme != first.Scheme {
		return fault.New(fault.BadUpstream, "%s redirects to %s://%s, which is not followed", first.Host, request.URL.Scheme, request.URL.Host)
	}
	const most = 3
	if len(via) > most {
		return fault.New(fault.BadUpstream, "%s redirects more than %d times", first.Host, most)
	}
	return nil
}
