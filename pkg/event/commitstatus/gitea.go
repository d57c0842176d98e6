package commitstatus

import (
	"context"
	"net/http"
	"strings"

	"code.gitea.io/sdk/gitea"
)

// giteaHost is a Gitea or a Forgejo, which have one API.
type giteaHost struct {
	base    string
	options []gitea.ClientOption
}

func newGitea(base, token string, client *http.Client) (host, error) {
	h := giteaHost{base, []gitea.ClientOption{
		// Without a version it asks for one first; statuses are older than any that it tells apart.
		gitea.SetGiteaVersion(""),
		gitea.SetHTTPClient(client), gitea.SetToken(token), gitea.SetUserAgent(userAgent),
	}}
	_, err := h.client(context.Background())
	return h, err
}

// client is made for each call, since it holds the call's context.
func (h giteaHost) client(ctx context.Context) (*gitea.Client, error) {
	return gitea.NewClient(h.base, append([]gitea.ClientOption{gitea.SetContext(ctx)}, h.options...)...)
}

// longest: Gitea has no limit. More than this is not read in a list.
func (giteaHost) longest() int { return 255 }

func (h giteaHost) set(ctx context.Context, c Commit, s Status) (*http.Response, error) {
	client, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	owner, name, _ := strings.Cut(c.Repository, "/")
	_, response, err := client.CreateStatus(owner, name, c.SHA, gitea.CreateStatusOption{
		State: gitea.StatusState(s.State), Context: s.Context, Description: s.Description, TargetURL: s.TargetURL,
	})
	return ofGitea(response), err
}

func (h giteaHost) last(ctx context.Context, c Commit, context string) (*Status, *http.Response, error) {
	client, err := h.client(ctx)
	if err != nil {
		return nil, nil, err
	}
	owner, name, _ := strings.Cut(c.Repository, "/")
	combined, response, err := client.GetCombinedStatus(owner, name, c.SHA)
	if err != nil {
		return nil, ofGitea(response), err
	}
	for _, s := range combined.Statuses {
		if s != nil && s.Context == context { // null in its list is no status
			return &Status{State: State(s.State), Context: context, Description: s.Description, TargetURL: s.TargetURL}, ofGitea(response), nil
		}
	}
	return nil, ofGitea(response), nil
}

func ofGitea(response *gitea.Response) *http.Response {
	if response == nil {
		return nil
	}
	return response.Response
}
