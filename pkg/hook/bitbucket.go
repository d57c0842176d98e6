package hook

import (
	"net/http"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// bitbucket is Bitbucket Cloud. Its X-Hub-Signature is SHA-256, although
// GitHub's header of that name is SHA-1.
type bitbucket struct{ secrets []secret.Value }

func newBitbucket(_ *Spec, secrets []secret.Value, _ *fault.List) Provider { return bitbucket{secrets} }

func (b bitbucket) Verify(d Delivery, _ time.Time) error {
	return verifyHex(d.Header, "X-Hub-Signature", "sha256", false, d.Body, b.secrets)
}

func (bitbucket) Identify(header http.Header) (event, delivery string) {
	return header.Get("X-Event-Key"), header.Get("X-Request-UUID")
}

func (bitbucket) Default() Type { return Push }

func (bitbucket) Knows(event string) bool { return slices.Contains(bitbucketEvents, event) }

func (bitbucket) Decode(event string, payload object) ([]Event, error) {
	events := []Event{newEvent(Other)}
	if event == "repo:push" {
		changes, ok := payload.list("push", "changes")
		if !ok {
			return nil, fault.New(fault.Malformed, "the push has no list `push.changes`")
		}
		events = events[:0]
		for _, change := range changes {
			o, _ := change.(map[string]any)
			e, err := bitbucketChange(o)
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
	}
	page := payload.text("repository", "links", "html", "href")
	repo := Repo{FullName: payload.text("repository", "full_name"), Host: hostOf(page)}
	if repo.Host != "" {
		repo.CloneURL = page + ".git" // the payload has no clone URL
	}
	// No unique name is public but the nickname.
	sender := payload.text("actor", "nickname")
	if sender == "" {
		sender = payload.text("actor", "username")
	}
	for i := range events {
		events[i].Repo, events[i].Sender = repo, sender
	}
	return events, nil
}

// bitbucketChange reads one change; the host lists no paths.
func bitbucketChange(change object) (Event, error) {
	now, before := change.child("new"), change.child("old")
	ref := now
	if ref == nil {
		ref = before
	}
	target := now.child("target")
	e, err := pushOf(bitbucketRef(ref), before.text("target", "hash"), target.text("hash"))
	if err != nil {
		return Event{}, err
	}
	e.Created = change.truth("created") || before == nil
	e.Deleted = change.truth("closed") || now == nil
	e.Forced = change.truth("forced")
	e.Message = target.text("message")
	e.Committed = rfc3339(target.text("date"))
	return e, nil
}

// bitbucketRef writes a ref in full, as other hosts send it.
func bitbucketRef(ref object) string {
	name := ref.text("name")
	switch kind := ref.text("type"); {
	case name == "":
		return ""
	case kind == "tag" || kind == "annotated_tag":
		return "refs/tags/" + name
	default:
		return "refs/heads/" + name
	}
}

var bitbucketEvents = []string{
	"issue:comment_created", "issue:created", "issue:updated", "project:updated", "pullrequest:approved",
	"pullrequest:changes_request_created", "pullrequest:changes_request_removed", "pullrequest:comment_created",
	"pullrequest:comment_deleted", "pullrequest:comment_reopened", "pullrequest:comment_resolved",
	"pullrequest:comment_updated", "pullrequest:created", "pullrequest:fulfilled", "pullrequest:push",
	"pullrequest:rejected", "pullrequest:unapproved", "pullrequest:updated", "repo:commit_comment_created",
	"repo:commit_status_created", "repo:commit_status_updated", "repo:created", "repo:deleted", "repo:fork",
	"repo:imported", "repo:push", "repo:transfer", "repo:updated",
}
