package registry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

// world is a network of handlers by scheme and host. It notes every request
// that goes out, whether anybody is there or not.
type world struct {
	hosts map[string]http.HandlerFunc
	sent  []*http.Request
}

func (w *world) RoundTrip(request *http.Request) (*http.Response, error) {
	w.sent = append(w.sent, request.Clone(context.Background()))
	handler := w.hosts[request.URL.Scheme+"://"+request.URL.Host]
	if handler == nil {
		handler = http.NotFound
	}
	recorder := httptest.NewRecorder()
	handler(recorder, request)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

// log says what was sent: method and address without the query.
func (w *world) log() []string {
	var all []string
	for _, r := range w.sent {
		all = append(all, r.Method+" "+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path)
	}
	return all
}

func (w *world) wants(t *testing.T, want ...string) {
	t.Helper()
	if got := w.log(); !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

const (
	host     = "https://reg.lab"
	manifest = "https://reg.lab/v2/x/y/manifests/v2"
	shown    = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
)

var secure = image.Registry{Host: "reg.lab", TokenHosts: []string{"auth.example"}}

// guarded is a registry that shows its image to who holds the token T.
func guarded(challenges ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer T" {
			for _, c := range challenges {
				w.Header().Add("WWW-Authenticate", c)
			}
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Docker-Content-Digest", shown)
	}
}

func replies(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }
}

func ask(t *testing.T, w *world, registry image.Registry, login Login, text string) (string, bool, error) {
	t.Helper()
	ref, err := registry.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return newClient(registry, login, w).Digest(context.Background(), ref)
}

func found(t *testing.T, w *world) {
	t.Helper()
	digest, exists, err := ask(t, w, secure, nil, "reg.lab/x/y:v2")
	if err != nil || !exists || digest != shown {
		t.Errorf("got %q, %t, %v", digest, exists, err)
	}
}

// refused wants a 502 that says something.
func refused(t *testing.T, w *world, says string) {
	t.Helper()
	_, exists, err := ask(t, w, secure, nil, "reg.lab/x/y:v2")
	wantBad(t, err, says)
	if exists {
		t.Error("what is not known does not exist")
	}
}

func wantBad(t *testing.T, err error, says string) {
	t.Helper()
	if fault.KindOf(err) != fault.BadUpstream || !contains(err.Error(), says) {
		t.Errorf("got %v, want a 502 that says %q", err, says)
	}
}
