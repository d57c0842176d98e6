package commitstatus

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/runhook/runhook/pkg/config"
)

// userAgent is what hosts know runhook by; GitHub refuses calls without one.
const userAgent = "runhook"

// dial makes the API of a provider at its address. Nobody is called.
func dial(c config.Sink, base *url.URL, client *http.Client) (host, error) {
	token := string(c.Key.Bytes())
	switch c.Provider {
	case "github":
		return newGitHub(api(base, "github.com", "api/v3/"), token, client)
	case "gitlab":
		return newGitLab(c.BaseURL, token, client)
	case "gitea", "forgejo":
		return newGitea(c.BaseURL, token, client)
	case "bitbucket":
		return bitbucketCloud{caller{client, token}, api(base, "bitbucket.org", "2.0/")}, nil
	case "bitbucket-server":
		return bitbucketServer{caller{client, token}, base.JoinPath("rest/api/1.0/").String()}, nil
	}
	return nil, fmt.Errorf("provider %q has no statuses", c.Provider)
}

// api is the address of an API. The public host has a name of its own for it,
// any other a path.
func api(base *url.URL, public, path string) string {
	if hostName(base) != public {
		return base.JoinPath(path).String()
	}
	at := url.URL{Scheme: "https", Host: "api." + public, Path: "/"}
	if !strings.HasPrefix(path, "api/") { // which is in the name already
		at.Path += path
	}
	return at.String()
}
