// Package hooktest makes signed deliveries as hosts send them, for the demo,
// the benchmarks and the tests.
package hooktest

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
)

// GitHubPush is a push of one commit to acme/pump-models.
type GitHubPush struct {
	SHA, Before, Branch, Message string
	// Path is the one file that the commit changes.
	Path string
	// Padding makes the body at least this long, by further commits.
	Padding int
}

// NewGitHubPush is a push of a commit that nobody has pushed before.
func NewGitHubPush(message string) GitHubPush {
	return GitHubPush{SHA: RandomHex(20), Before: RandomHex(20), Branch: "main", Message: message, Path: "model/pump.yaml"}
}

// RandomHex is n random bytes as hex.
func RandomHex(n int) string {
	random := make([]byte, n)
	rand.Read(random) // never fails: it ends the program where it cannot
	return hex.EncodeToString(random)
}

// Body is the JSON that GitHub sends.
func (p GitHubPush) Body() []byte {
	head := commit(p.SHA, p.Message, p.Path)
	commits := []any{}
	for size := 0; size < p.Padding; {
		older := commit(RandomHex(20), "an older commit of the same push", "model/"+RandomHex(64)+".yaml")
		encoded, _ := json.Marshal(older)
		size += len(encoded)
		commits = append(commits, older)
	}
	body, err := json.Marshal(map[string]any{
		"ref": "refs/heads/" + p.Branch, "before": p.Before, "after": p.SHA,
		"created": false, "deleted": false, "forced": false,
		"repository": map[string]any{
			"full_name": "acme/pump-models",
			"clone_url": "https://git.example/acme/pump-models.git",
			"html_url":  "https://git.example/acme/pump-models",
		},
		"pusher": map[string]any{"name": "ada"}, "sender": map[string]any{"login": "ada"},
		"head_commit": head, "commits": append(commits, head),
	})
	if err != nil {
		panic(err) // maps of texts always encode
	}
	return body
}

func commit(sha, message, path string) map[string]any {
	return map[string]any{
		"id": sha, "message": message, "timestamp": "2026-01-02T03:04:05Z",
		"author": map[string]any{"name": "Ada", "username": "ada"},
		"added":  []string{}, "removed": []string{}, "modified": []string{path},
	}
}

// GitHubSignature is the value of X-Hub-Signature-256.
func GitHubSignature(body, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// GitHubRequest is the signed request to a hook's URL.
func GitHubRequest(url string, body, secret []byte) (*http.Request, error) {
	return GitHubRequestFrom(url, bytes.NewReader(body), GitHubSignature(body, secret))
}

// GitHubRequestFrom is a request with a signature of the caller's choice.
func GitHubRequestFrom(url string, body io.Reader, signature string) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-GitHub-Event", "push")
	request.Header.Set("X-GitHub-Delivery", RandomHex(16))
	request.Header.Set("X-Hub-Signature-256", signature)
	return request, nil
}
