package hook

import (
	"net/http"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// GitHub cuts a push at 2,048 commits, and a commit at 3,000 files.
const (
	githubCommits = 2048
	githubFiles   = 3000
)

// github signs the body as sent, form or JSON, in X-Hub-Signature-256. The
// older X-Hub-Signature (SHA-1) proves nothing here.
type github struct{ secrets []secret.Value }

func newGitHub(_ *Spec, secrets []secret.Value, _ *fault.List) Provider { return github{secrets} }

func (g github) Verify(d Delivery, _ time.Time) error {
	return verifyHex(d.Header, "X-Hub-Signature-256", "sha256", false, d.Body, g.secrets)
}

func (github) Identify(header http.Header) (event, delivery string) {
	return header.Get("X-GitHub-Event"), header.Get("X-GitHub-Delivery")
}

func (github) Default() Type { return Push }

func (github) Decode(event string, payload object) ([]Event, error) {
	e := newEvent(Other)
	switch event {
	case "ping":
		e.Type = Ping
	case "push":
		var err error
		if e, err = pushOf(payload.text("ref"), payload.text("before"), payload.text("after")); err != nil {
			return nil, err
		}
		e.Created = e.Created || payload.truth("created")
		e.Deleted = e.Deleted || payload.truth("deleted")
		e.Forced = payload.truth("forced")
		head := payload.child("head_commit")
		// An annotated tag's `after` is the tag itself, not the commit.
		if sha := head.text("id"); e.Type == Tag && sha != "" {
			e.SHA = sha
		}
		e.addCommits(payload, head, githubCut(payload))
	}
	e.Repo = Repo{FullName: payload.text("repository", "full_name"), CloneURL: payload.text("repository", "clone_url")}
	e.Repo.Host = hostOf(e.Repo.CloneURL, payload.text("repository", "html_url"))
	e.Sender = payload.text("sender", "login")
	return []Event{e}, nil
}

// githubCut reports that commits or files may be missing.
func githubCut(payload object) bool {
	commits := payload.objects("commits")
	for _, commit := range commits {
		files := 0
		for _, change := range []string{"added", "modified", "removed"} {
			list, _ := commit.list(change)
			files += len(list)
		}
		if files >= githubFiles {
			return true
		}
	}
	return len(commits) >= githubCommits
}

func (github) Knows(event string) bool { return slices.Contains(githubEvents, event) }

var githubEvents = []string{
	"branch_protection_configuration", "branch_protection_rule", "check_run", "check_suite",
	"code_scanning_alert", "commit_comment", "create", "custom_property", "custom_property_values",
	"delete", "dependabot_alert", "deploy_key", "deployment", "deployment_protection_rule",
	"deployment_review", "deployment_status", "discussion", "discussion_comment", "fork",
	"github_app_authorization", "gollum", "installation", "installation_repositories",
	"installation_target", "issue_comment", "issues", "label", "marketplace_purchase", "member",
	"membership", "merge_group", "meta", "milestone", "org_block", "organization", "package",
	"page_build", "personal_access_token_request", "ping", "project", "project_card",
	"project_column", "projects_v2", "projects_v2_item", "projects_v2_status_update", "public",
	"pull_request", "pull_request_review", "pull_request_review_comment",
	"pull_request_review_thread", "push", "registry_package", "release", "repository",
	"repository_advisory", "repository_dispatch", "repository_import", "repository_ruleset",
	"repository_vulnerability_alert", "secret_scanning_alert", "secret_scanning_alert_location",
	"secret_scanning_scan", "security_advisory", "security_and_analysis", "sponsorship", "star",
	"status", "sub_issues", "team", "team_add", "watch", "workflow_dispatch", "workflow_job",
	"workflow_run",
}
