package commitstatus

import (
	"context"
	"errors"
	"net/http"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
	"golang.org/x/time/rate"
)

type gitLab struct{ client *gitlab.Client }

func newGitLab(base, token string, client *http.Client) (host, error) {
	c, err := gitlab.NewClient(token, gitlab.WithBaseURL(base), gitlab.WithHTTPClient(client), gitlab.WithUserAgent(userAgent),
		gitlab.WithoutRetries(), gitlab.WithCustomLimiter(rate.NewLimiter(rate.Inf, 0))) // the sink and its gate see to both
	if err != nil {
		return nil, err
	}
	return gitLab{c}, nil
}

// longest is GitLab's: it refuses more.
func (gitLab) longest() int { return 255 }

func (h gitLab) set(ctx context.Context, c Commit, s Status) (*http.Response, error) {
	options := &gitlab.SetCommitStatusOptions{State: gitLabState(s), Name: &s.Context, Description: &s.Description}
	if s.TargetURL != "" {
		options.TargetURL = &s.TargetURL
	}
	if _, name, ok := strings.Cut(strings.TrimPrefix(c.Ref, "refs/"), "/"); ok {
		options.Ref = &name // else GitLab takes any branch that has the commit
	}
	_, response, err := h.client.Commits.SetCommitStatus(c.Repository, c.SHA, options, gitlab.WithContext(ctx))
	if response == nil {
		return nil, err
	}
	if shown(err) {
		err = errShown
	}
	return response.Response, err
}

// shown reports GitLab's refusal of a state that the commit is in already, and
// of one that it is past: it does not go back from running to pending.
func shown(err error) bool {
	var refusal *gitlab.ErrorResponse
	return errors.As(err, &refusal) && refusal.HasStatusCode(http.StatusBadRequest) && strings.Contains(refusal.Message, "Cannot transition status")
}

func gitLabState(s Status) gitlab.BuildStateValue {
	switch {
	case s.State == Success:
		return gitlab.Success
	case s.State == Failure, s.State == Error:
		return gitlab.Failed
	case s.Begun:
		return gitlab.Running
	}
	return gitlab.Pending
}
