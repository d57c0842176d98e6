package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
)

// remote calls functions at a server.
type remote struct {
	base  *url.URL
	token string
}

func newRemote(server, tokenFile string, sys System) (*remote, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, usage{fault.New(fault.Invalid, "--server %q is not a URL such as https://runhook.example", server)}
	}
	if tokenFile == "" {
		// The server would ask for a header, which nobody types here.
		return nil, usage{fault.New(fault.Invalid, "say who calls %s: --token-file FILE with the bearer token, or RUNHOOK_TOKEN_FILE", base.Redacted())}
	}
	token, err := secret.Ref{File: tokenFile}.Load(sys.Getenv)
	if err != nil {
		return nil, usage{err}
	}
	return &remote{base, string(token.Bytes())}, nil
}

func (r *remote) do(ctx context.Context, call call) (json.RawMessage, error) {
	request, err := r.request(ctx, call)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the server cannot be reached: %v", err)
	}
	defer response.Body.Close()
	good := response.StatusCode/100 == 2
	if good && call.text != nil {
		if _, err := io.Copy(call.text, response.Body); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the server's answer broke off: %v", err)
		}
		return nil, nil
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, limits.NodeStatus))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the server's answer broke off: %v", err)
	}
	if !good {
		return nil, problemOf(response, answer)
	}
	if !json.Valid(answer) {
		return nil, fault.New(fault.BadUpstream, "the server answered %s, and not as runhook does", response.Status)
	}
	return answer, nil
}

func (r *remote) request(ctx context.Context, call call) (*http.Request, error) {
	body, err := json.Marshal(call.request)
	if err != nil {
		return nil, err
	}
	address := r.base.JoinPath("functions", url.PathEscape(call.name))
	if call.dryRun {
		address.RawQuery = "dryRun=true"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if call.text != nil {
		request.Header.Set("Accept", "text/plain")
	}
	if call.key != "" {
		request.Header.Set("Idempotency-Key", call.key)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	return request, nil
}

// problemOf makes the fault again that the server has told.
func problemOf(response *http.Response, body []byte) error {
	var told struct {
		Kind   fault.Kind      `json:"kind"`
		Detail string          `json:"detail"`
		Errors []fault.Problem `json:"errors"`
	}
	if err := json.Unmarshal(body, &told); err != nil || told.Detail == "" {
		return fault.New(fault.BadUpstream, "the server answered %s, and not as runhook does: %.200q", response.Status, body)
	}
	return &fault.Error{Kind: told.Kind, Detail: told.Detail, Problems: told.Errors}
}
