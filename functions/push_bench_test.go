package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/functions/stop"
	"github.com/runhook/runhook/functions/submit"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/secret"
)

// nowhere takes Workflows and keeps none: what is measured is runhook alone.
type nowhere struct{ submit.Cluster }

func (nowhere) CreateWorkflow(_ context.Context, w *wfv1.Workflow, _ bool) (*wfv1.Workflow, error) {
	return w, nil
}

// only is an invoker of one function.
type only function.Function

func (f only) Invoke(ctx context.Context, _ string, call function.Call) (function.Response, error) {
	return f.Handle(ctx, call)
}

// BenchmarkPush verifies, decodes, matches and renders a push to the hook of
// the demo. The floor beside it is what any receiver in Go must do: an HMAC
// over the body, and the decoding of its JSON.
func BenchmarkPush(b *testing.B) {
	const secretText = "harbour-lamp-42"
	c, err := config.Load(filepath.Join("..", "manifests", "overlays", "local", "config.yaml"), nil)
	if err != nil {
		b.Fatal(err)
	}
	c.HookSecrets = map[string][]secret.Value{}
	for _, spec := range c.Hooks {
		c.HookSecrets[spec.Path] = []secret.Value{secret.Of(secretText)}
	}
	table, err := New(c, nil)
	if err != nil {
		b.Fatal(err)
	}
	invoker := only(submit.New(nowhere{}, nil, stop.New(nil, ""), submitSettings(c)))
	h := table.Hooks()["acme"]
	for _, size := range []int{10 << 10, 1 << 20} {
		push := hooktest.NewGitHubPush("Train the pump model on {{clean}} data")
		push.Padding = size
		body := push.Body()
		request, err := hooktest.GitHubRequest("http://127.0.0.1/hooks/acme", body, []byte(secretText))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				outcome, err := h.Accept(hook.Delivery{Header: request.Header, Body: body}, time.Now())
				if err != nil {
					b.Fatal(err)
				}
				if answer := h.Act(context.Background(), outcome, invoker); answer.Status != http.StatusAccepted {
					b.Fatalf("%+v", answer)
				}
			}
		})
		b.Run(fmt.Sprintf("%dKiB-floor", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if hooktest.GitHubSignature(body, []byte(secretText)) != request.Header.Get("X-Hub-Signature-256") {
					b.Fatal("wrong signature")
				}
				var payload map[string]any
				if err := json.Unmarshal(body, &payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
