package hook

import (
	"net/http"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// gitlab sends its secret as it is, in X-Gitlab-Token.
type gitlab struct {
	gitlabPayload
	secrets []secret.Value
}

func newGitLab(_ *Spec, secrets []secret.Value, _ *fault.List) Provider {
	return gitlab{secrets: secrets}
}

func (g gitlab) Verify(d Delivery, _ time.Time) error {
	token, err := one(d.Header, "X-Gitlab-Token")
	if err != nil {
		return err
	}
	return verifyToken("X-Gitlab-Token", token, g.secrets)
}

// Identify takes Idempotency-Key first: it stays the same when GitLab sends
// again.
func (gitlab) Identify(header http.Header) (event, delivery string) {
	delivery = header.Get("Idempotency-Key")
	if delivery == "" {
		delivery = header.Get("X-Gitlab-Event-UUID")
	}
	return header.Get("X-Gitlab-Event"), delivery
}

// gitlabSigned is GitLab's signing token, which is Standard Webhooks.
type gitlabSigned struct {
	gitlabPayload
	keys webhookKeys
}

func newGitLabSigned(_ *Spec, secrets []secret.Value, problems *fault.List) Provider {
	return gitlabSigned{keys: newWebhookKeys(secrets, problems)}
}

func (g gitlabSigned) Verify(d Delivery, now time.Time) error { return g.keys.verify(d, now) }

func (gitlabSigned) Identify(header http.Header) (event, delivery string) {
	return header.Get("X-Gitlab-Event"), header.Get("webhook-id")
}

// gitlabPayload reads what both send.
type gitlabPayload struct{}

func (gitlabPayload) Default() Type { return Push }

func (gitlabPayload) Knows(event string) bool { return slices.Contains(gitlabEvents, event) }

func (gitlabPayload) Decode(event string, payload object) ([]Event, error) {
	e := newEvent(Other)
	switch gitlabKind(event, payload) {
	case "push", "tag_push":
		// checkout_sha is the commit, also where `after` is an annotated tag.
		after := payload.text("after")
		if sha := payload.text("checkout_sha"); sha != "" && !zeros(after) {
			after = sha
		}
		var err error
		if e, err = pushOf(payload.text("ref"), payload.text("before"), after); err != nil {
			return nil, err
		}
		// GitLab lists 20 commits at most.
		total, told := payload.number("total_commits_count")
		e.addCommits(payload, nil, !told || total != int64(len(payload.objects("commits"))))
	}
	if event == "" {
		e.Name = payload.text("object_kind")
	}
	e.Repo = Repo{
		FullName: payload.text("project", "path_with_namespace"),
		CloneURL: payload.text("project", "git_http_url"),
	}
	e.Repo.Host = hostOf(e.Repo.CloneURL, payload.text("project", "web_url"))
	e.Sender = payload.text("user_username")
	if e.Sender == "" {
		e.Sender = payload.text("user", "username")
	}
	return []Event{e}, nil
}

// gitlabKind believes the body before the header, which no token signs. System
// hooks have one header for all kinds.
func gitlabKind(event string, payload object) string {
	if kind := payload.text("object_kind"); kind != "" {
		return kind
	}
	if kind := payload.text("event_name"); kind != "" {
		return kind
	}
	return map[string]string{"Push Hook": "push", gitlabTagPush: "tag_push"}[event]
}

const gitlabTagPush = "Tag Push Hook"

var gitlabEvents = []string{
	"Access Token Hook", "Confidential Issue Hook", "Confidential Note Hook", "Deployment Hook", "Emoji Hook",
	"Feature Flag Hook", "Issue Hook", "Job Hook", "Member Hook", "Merge Request Hook", "Milestone Hook",
	"Note Hook", "Pipeline Hook", "Project Hook", "Push Hook", "Release Hook", "Resource Access Token Hook",
	"Subgroup Hook", "System Hook", gitlabTagPush, "Vulnerability Hook", "Wiki Page Hook",
}
