package sensors

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	sharedutil "github.com/argoproj/argo-events/pkg/shared/util"
)

// Every trigger calls a function of runhook, says what an answer means, and is
// tried again for minutes without end for none.
func TestEveryTriggerIsDurable(t *testing.T) {
	for name, s := range read(t).sensors {
		for _, trigger := range s.Spec.Triggers {
			name := name + "/" + trigger.Template.Name
			http := trigger.Template.HTTP
			if http == nil || !strings.HasPrefix(http.URL, "http://runhook.runhook-system.svc:8080/functions/") {
				t.Fatalf("%s calls no function", name)
			}
			if !trigger.AtLeastOnce || trigger.DlqTrigger == nil || trigger.DlqTrigger.Template.Log == nil {
				t.Errorf("%s may lose what it was handed", name)
			}
			if trigger.Policy == nil || trigger.Policy.Status == nil || !slices.Contains(trigger.Policy.Status.Allow, 200) {
				t.Fatalf("%s takes any answer for success", name)
			}
			for _, code := range []int32{400, 409, 422} {
				if !slices.Contains(trigger.Policy.Status.Allow, code) {
					t.Errorf("%s asks again after %d, which no next try changes, and holds up others", name, code)
				}
			}
			for _, code := range trigger.Policy.Status.Allow {
				if code >= 500 || code == 429 || code == 401 || code == 403 {
					t.Errorf("%s takes %d for an answer, though the next try may succeed", name, code)
				}
			}
			durable(t, name, trigger.RetryStrategy)
			authorized(t, name, http)
			defaults(t, name, http.Payload)
		}
	}
}

// durable holds the retries against runhook's own restart, and against the time
// for which one event may hold up the next.
func durable(t *testing.T, name string, strategy *v1alpha1.Backoff) {
	t.Helper()
	if strategy == nil {
		t.Errorf("%s is tried once", name)
		return
	}
	backoff, err := sharedutil.Convert2WaitBackoff(strategy)
	if err != nil {
		t.Errorf("%s: retryStrategy: %v", name, err)
		return
	}
	total := time.Duration(0)
	backoff.Jitter = 0
	for backoff.Steps > 1 {
		total += backoff.Step()
	}
	if total < 10*time.Minute || total > 30*time.Minute {
		t.Errorf("%s is tried again for %s", name, total)
	}
}

// authorized: a header is sent under the very name that is written, so it must
// be the one that HTTP knows.
func authorized(t *testing.T, name string, http *v1alpha1.HTTPTrigger) {
	t.Helper()
	if len(http.SecureHeaders) != 1 || http.SecureHeaders[0].Name != "Authorization" || http.SecureHeaders[0].ValueFrom.SecretKeyRef == nil {
		t.Errorf("%s has no token from a Secret", name)
	}
	if http.Headers["Content-Type"] != "application/json" || len(http.Headers) != 1 {
		t.Errorf("%s sends the headers %v", name, http.Headers)
	}
}

func defaults(t *testing.T, name string, parameters []v1alpha1.TriggerParameter) {
	t.Helper()
	if len(parameters) == 0 {
		t.Errorf("%s sends nothing", name)
	}
	for i, p := range parameters {
		if p.Src.Value == nil {
			t.Errorf("%s: payload[%d] has no default", name, i)
		}
	}
}
