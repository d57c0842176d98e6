package hook

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
)

// bitbucketServer is Bitbucket Server, now Data Center.
type bitbucketServer struct{ secrets []secret.Value }

func newBitbucketServer(_ *Spec, secrets []secret.Value, _ *fault.List) Provider {
	return bitbucketServer{secrets}
}

const bitbucketPing = "diagnostics:ping"

// Ping is the button "Test connection", which does not sign.
func (bitbucketServer) Ping(header http.Header) (event string, ok bool) {
	return bitbucketPing, slices.Equal(header.Values("X-Event-Key"), []string{bitbucketPing})
}

func (b bitbucketServer) Verify(d Delivery, _ time.Time) error {
	return verifyHex(d.Header, "X-Hub-Signature", "sha256", false, d.Body, b.secrets)
}

func (bitbucketServer) Identify(header http.Header) (event, delivery string) {
	return header.Get("X-Event-Key"), header.Get("X-Request-Id")
}

func (bitbucketServer) Default() Type { return Push }

func (bitbucketServer) Knows(event string) bool { return slices.Contains(bitbucketServerEvents, event) }

func (bitbucketServer) Decode(event string, payload object) ([]Event, error) {
	events := []Event{newEvent(Other)}
	switch event {
	case bitbucketPing:
		events[0].Type = Ping
	case "repo:refs_changed":
		changes, ok := payload.list("changes")
		if !ok {
			return nil, fault.New(fault.Malformed, "the push has no list `changes`")
		}
		events = events[:0]
		for _, change := range changes {
			o, _ := change.(map[string]any)
			e, err := bitbucketServerChange(o, payload)
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
	}
	repo := bitbucketServerRepo(payload.child("repository"))
	for i := range events {
		events[i].Repo, events[i].Sender = repo, payload.text("actor", "name")
	}
	return events, nil
}

// bitbucketServerChange reads one change; newer versions tell its commit, none
// lists paths.
func bitbucketServerChange(change, payload object) (Event, error) {
	ref := change.text("ref", "id")
	if ref == "" {
		ref = change.text("refId")
	}
	e, err := pushOf(ref, change.text("fromHash"), change.text("toHash"))
	if err != nil {
		return Event{}, err
	}
	e.Created = e.Created || change.text("type") == "ADD"
	e.Deleted = e.Deleted || change.text("type") == "DELETE"
	head := payload.child("toCommit")
	if head.text("id") != e.SHA {
		head = find(payload.objects("commits"), "id", e.SHA)
	}
	e.Message = head.text("message")
	if millis, ok := head.number("committerTimestamp"); ok {
		e.Committed = rfc3339(time.UnixMilli(millis).UTC().Format(time.RFC3339))
	}
	return e, nil
}

func bitbucketServerRepo(repository object) Repo {
	repo := Repo{}
	if project, slug := repository.text("project", "key"), repository.text("slug"); project != "" && slug != "" {
		repo.FullName = project + "/" + slug
	}
	for _, link := range repository.objects("links", "clone") {
		if strings.HasPrefix(link.text("href"), "http") {
			repo.CloneURL = link.text("href")
		}
	}
	repo.Host = hostOf(repo.CloneURL)
	for _, link := range repository.objects("links", "self") {
		if repo.Host == "" {
			repo.Host = hostOf(link.text("href"))
		}
	}
	return repo
}

var bitbucketServerEvents = []string{
	"mirror:repo_synchronized", "pr:comment:added", "pr:comment:deleted", "pr:comment:edited",
	"pr:declined", "pr:deleted", "pr:from_ref_updated", "pr:merged", "pr:modified", "pr:opened",
	"pr:reviewer:approved", "pr:reviewer:changes_requested", "pr:reviewer:needs_work", "pr:reviewer:unapproved",
	"pr:reviewer:updated", "project:modified", "repo:comment:added", "repo:comment:deleted", "repo:comment:edited",
	"repo:forked", "repo:modified", "repo:refs_changed", "repo:secret_detected",
}
