package hook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"hash"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/secret"
)

const lamp = "harbour-lamp-42"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var functions = []string{"submit", "reserve", "cancel"}

// compile makes a hook of routes, or fails the test.
func compile(t testing.TB, provider string, routes ...hook.RouteSpec) *hook.Hook {
	t.Helper()
	return compileSpec(t, hook.Spec{Path: "acme", Provider: provider, Routes: routes}, lamp)
}

func compileSpec(t testing.TB, spec hook.Spec, secrets ...string) *hook.Hook {
	t.Helper()
	h, problems := hook.Compile(spec, values(secrets), hook.Options{Functions: functions})
	for _, p := range problems {
		t.Error(p)
	}
	if h == nil {
		t.Fatal("the hook does not compile")
	}
	return h
}

func values(secrets []string) []secret.Value {
	values := make([]secret.Value, len(secrets))
	for i, text := range secrets {
		values[i] = secret.Of(text)
	}
	return values
}

// route is the plainest route, changed as a test needs it.
func route(change func(*hook.RouteSpec)) hook.RouteSpec {
	r := hook.RouteSpec{Name: "train", Function: "submit"}
	if change != nil {
		change(&r)
	}
	return r
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func sign(key string, body []byte) string    { return signWith(sha256.New, key, body) }
func sign512(key string, body []byte) string { return signWith(sha512.New, key, body) }

func signWith(algorithm func() hash.Hash, key string, body []byte) string {
	mac := hmac.New(algorithm, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// headers makes a header of `name: value` lines, with JSON as the type unless
// one is given.
func headers(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return header
}

// github is a signed delivery of a push.
func github(body string, lines ...string) hook.Delivery {
	lines = append([]string{"X-GitHub-Event: push", "X-Hub-Signature-256: sha256=" + sign(lamp, []byte(body))}, lines...)
	return hook.Delivery{Header: headers(lines...), Body: []byte(body)}
}

// accept gives the outcome of a delivery that must be accepted.
func accept(t testing.TB, h *hook.Hook, d hook.Delivery) hook.Outcome {
	t.Helper()
	out, err := h.Accept(d, noon)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return out
}

// decision gives the one decision of a delivery.
func decision(t testing.TB, h *hook.Hook, d hook.Delivery) hook.Decision {
	t.Helper()
	out := accept(t, h, d)
	if len(out.Decisions) != 1 {
		t.Fatalf("%d decisions", len(out.Decisions))
	}
	return out.Decisions[0]
}

// wantKind fails unless the error is a fault of a kind which tells no secret.
func wantKind(t testing.TB, err error, kind fault.Kind, hidden ...string) {
	t.Helper()
	if got := fault.KindOf(err); got != kind {
		t.Fatalf("kind %q, want %q: %v", got, kind, err)
	}
	for _, text := range append(hidden, lamp) {
		if err != nil && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(text)) {
			t.Fatalf("the error tells %q: %v", text, err)
		}
	}
}

// textAt is the text at keys of a request.
func textAt(t testing.TB, request json.RawMessage, keys ...string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(request, &value); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	text, _ := value.(string)
	return text
}
