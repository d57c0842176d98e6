package hook

import (
	"net/url"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/fault"
)

// pushOf makes a push of a ref with its commits before and after. Hosts write a
// commit that does not exist as zeros: nothing was before, or nothing is left.
func pushOf(ref, before, after string) (Event, error) {
	if ref == "" {
		return Event{}, fault.New(fault.Malformed, "the push has no text `ref`")
	}
	e := newEvent(Push)
	e.Ref = ref
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		e.Branch = branch
	}
	if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		e.Tag, e.Type = tag, Tag
	}
	e.Created, e.Deleted = zeros(before), zeros(after)
	if !e.Created {
		e.Before = before
	}
	if !e.Deleted {
		e.SHA = after
	}
	return e, nil
}

// zeros reports the id of no commit.
func zeros(sha string) bool { return sha != "" && strings.Trim(sha, "0") == "" }

// addCommits reads what GitHub, GitLab and Gitea tell alike: commits with
// files. head is the commit that the host points out, or nil.
func (e *Event) addCommits(payload, head object, cut bool) {
	commits := payload.objects("commits")
	if head == nil {
		head = find(commits, "id", e.SHA)
	}
	e.Message = head.text("message")
	e.Committed = rfc3339(head.text("timestamp"))
	listed := true
	seen := map[string]bool{}
	for _, commit := range commits {
		for _, change := range []string{"added", "modified", "removed"} {
			files, ok := commit.list(change)
			listed = listed && ok
			for _, file := range files {
				if path, ok := file.(string); ok && !seen[path] {
					seen[path] = true
					e.Paths = append(e.Paths, path)
				}
			}
		}
	}
	// A list without the pushed commit says nothing of what changed.
	whole := find(commits, "id", e.SHA) != nil || head != nil && find(commits, "id", head.text("id")) != nil
	e.PathsComplete = whole && listed && !cut && !e.Forced && !e.Created
}

// find gives the object whose field has a text, or nil.
func find(list []object, field, text string) object {
	for _, o := range list {
		if text != "" && o.text(field) == text {
			return o
		}
	}
	return nil
}

// rfc3339 lets a time through that can be compared.
func rfc3339(text string) string {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return ""
	}
	return text
}

// hostOf is the host of the first URL that has one.
func hostOf(urls ...string) string {
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return strings.ToLower(u.Host)
		}
	}
	return ""
}
