package hook

import (
	"net/http"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// gitea signs the JSON, even where it sends it as a form. It sends headers by
// GitHub's and Gogs' names too; only its own count. Forgejo is its fork.
type gitea struct {
	prefixes []string // of headers; the first that is there counts
	secrets  []secret.Value
}

func newGitea(_ *Spec, secrets []secret.Value, _ *fault.List) Provider {
	return gitea{[]string{"X-Gitea-"}, secrets}
}

func newForgejo(_ *Spec, secrets []secret.Value, _ *fault.List) Provider {
	return gitea{[]string{"X-Forgejo-", "X-Gitea-"}, secrets}
}

// name is the header's full name by the prefix in use.
func (g gitea) name(header http.Header, name string) string {
	for _, prefix := range g.prefixes {
		if len(header.Values(prefix+name)) > 0 {
			return prefix + name
		}
	}
	return g.prefixes[0] + name
}

func (g gitea) Verify(d Delivery, _ time.Time) error {
	signed, err := d.json()
	if err != nil {
		return fault.Wrap(fault.Unproven, err, "the form has not the one value `payload` that is signed")
	}
	// Older versions wrote the digits alone, newer tools prefix the algorithm.
	return verifyHex(d.Header, g.name(d.Header, "Signature"), "sha256", true, signed, g.secrets)
}

func (g gitea) Identify(header http.Header) (event, delivery string) {
	return header.Get(g.name(header, "Event")), header.Get(g.name(header, "Delivery"))
}

func (gitea) Default() Type { return Push }

func (gitea) Knows(event string) bool { return slices.Contains(giteaEvents, event) }

func (gitea) Decode(event string, payload object) ([]Event, error) {
	e := newEvent(Other)
	if event == "push" {
		var err error
		if e, err = pushOf(payload.text("ref"), payload.text("before"), payload.text("after")); err != nil {
			return nil, err
		}
		head := payload.child("head_commit")
		if sha := head.text("id"); e.Type == Tag && sha != "" {
			e.SHA = sha
		}
		// The list is cut, by default at 5.
		total, told := payload.number("total_commits")
		e.addCommits(payload, head, !told || total != int64(len(payload.objects("commits"))))
	}
	e.Repo = Repo{FullName: payload.text("repository", "full_name"), CloneURL: payload.text("repository", "clone_url")}
	e.Repo.Host = hostOf(e.Repo.CloneURL, payload.text("repository", "html_url"))
	e.Sender = payload.text("sender", "login")
	return []Event{e}, nil
}

var giteaEvents = []string{
	"action_run_failure", "action_run_recover", "action_run_success", "create", "delete", "fork", "issue_assign",
	"issue_comment", "issue_label", "issue_milestone", "issues", "package", "pull_request", "pull_request_approved",
	"pull_request_assign", "pull_request_comment", "pull_request_label", "pull_request_milestone",
	"pull_request_rejected", "pull_request_review_approved", "pull_request_review_comment",
	"pull_request_review_rejected", "pull_request_review_request", "pull_request_sync", "push", "release",
	"repository", "status", "wiki", "workflow_job", "workflow_run",
}
