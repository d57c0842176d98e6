package commitstatus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/runhook/runhook/pkg/limits"
)

// build is what both Bitbuckets call a status.
type build struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Ref         string `json:"ref,omitempty"`     // of Server
	Refname     string `json:"refname,omitempty"` // of Cloud
}

func buildOf(s Status) build {
	state := map[State]string{Pending: "INPROGRESS", Success: "SUCCESSFUL", Failure: "FAILED", Error: "FAILED"}[s.State]
	return build{Key: s.Context, State: state, Name: s.Context, URL: s.TargetURL, Description: s.Description}
}

// caller makes the one call of a Bitbucket.
type caller struct {
	client *http.Client
	token  string
}

// longest is Bitbucket's.
func (caller) longest() int { return 255 }

func (c caller) post(ctx context.Context, address string, b build) (*http.Response, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, limits.SinkAnswer) // the connection is used again
	return response, nil
}

type bitbucketCloud struct {
	caller
	api string
}

// keyLength is the longest key that Bitbucket Cloud takes.
const keyLength = 40

func (h bitbucketCloud) set(ctx context.Context, c Commit, s Status) (*http.Response, error) {
	b := buildOf(s)
	if len(b.Key) > keyLength {
		sum := sha256.Sum256([]byte(b.Key))
		b.Key = hex.EncodeToString(sum[:keyLength/2])
	}
	if branch, ok := strings.CutPrefix(c.Ref, "refs/heads/"); ok {
		b.Refname = branch
	}
	workspace, name, _ := strings.Cut(c.Repository, "/")
	return h.post(ctx, h.api+"repositories/"+url.PathEscape(workspace)+"/"+url.PathEscape(name)+"/commit/"+c.SHA+"/statuses/build", b)
}

type bitbucketServer struct {
	caller
	api string
}

func (h bitbucketServer) set(ctx context.Context, c Commit, s Status) (*http.Response, error) {
	b := buildOf(s)
	b.Ref = c.Ref
	project, name, _ := strings.Cut(c.Repository, "/")
	return h.post(ctx, h.api+"projects/"+url.PathEscape(project)+"/repos/"+url.PathEscape(name)+"/commits/"+c.SHA+"/builds", b)
}
