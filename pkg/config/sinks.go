package config

import "github.com/runhook/runhook/pkg/secret"

// The types of sinks.
const (
	SinkHTTP         = "http"
	SinkArgoEvents   = "argo-events"
	SinkCommitStatus = "commit-status"
)

// Sink is where events go.
type Sink struct {
	Name string `json:"name"`
	Type string `json:"type"`

	// URL takes CloudEvents of the Types (none: all). For http and argo-events:
	// the first get them signed with the Secret, the others with it as a token.
	URL    string      `json:"url"`
	Types  []string    `json:"types"`
	Secret *secret.Ref `json:"secret"`

	// Provider, BaseURL, Token and Repositories say which git host's commits
	// get a status. They are never taken from a payload. For commit-status.
	Provider     string      `json:"provider"`
	BaseURL      string      `json:"baseURL"`
	Token        *secret.Ref `json:"token"`
	Repositories []string    `json:"repositories"`

	// Key is the secret or the token itself.
	Key secret.Value `json:"-"`
}
