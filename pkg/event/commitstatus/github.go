package commitstatus

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-github/v93/github"
)

type gitHub struct{ client *github.Client }

func newGitHub(api, token string, client *http.Client) (host, error) {
	c, err := github.NewClient(github.WithHTTPClient(client), github.WithURLs(&api, nil), github.WithAuthToken(token),
		github.WithUserAgent(userAgent), github.WithDisableRateLimitCheck()) // the gate looks after the rate
	if err != nil {
		return nil, err
	}
	return gitHub{c}, nil
}

// longest is GitHub's: it refuses more.
func (gitHub) longest() int { return 140 }

func (h gitHub) set(ctx context.Context, c Commit, s Status) (*http.Response, error) {
	owner, name, _ := strings.Cut(c.Repository, "/")
	status := github.RepoStatus{State: new(string(s.State)), Context: &s.Context, Description: &s.Description}
	if s.TargetURL != "" {
		status.TargetURL = &s.TargetURL
	}
	_, response, err := h.client.Repositories.CreateStatus(ctx, owner, name, c.SHA, status)
	return ofGitHub(response), err
}

// perPage is the most that GitHub gives at once. A commit with more contexts
// gets a status twice after a takeover, which harms nobody.
const perPage = 100

func (h gitHub) last(ctx context.Context, c Commit, context string) (*Status, *http.Response, error) {
	owner, name, _ := strings.Cut(c.Repository, "/")
	combined, response, err := h.client.Repositories.GetCombinedStatus(ctx, owner, name, c.SHA, &github.ListOptions{PerPage: perPage})
	for _, s := range combined.GetStatuses() {
		if s.GetContext() == context {
			return &Status{State: State(s.GetState()), Context: context, Description: s.GetDescription(), TargetURL: s.GetTargetURL()}, ofGitHub(response), err
		}
	}
	return nil, ofGitHub(response), err
}

func ofGitHub(response *github.Response) *http.Response {
	if response == nil {
		return nil
	}
	return response.Response
}
