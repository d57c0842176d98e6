package registry

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/opencontainers/go-digest"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
)

var emptyDigest = digest.FromBytes(nil).String()

// A registry as others run it, over a real connection.
func TestHasImage(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	ours := image.Registry{Host: strings.TrimPrefix(server.URL, "http://"), PlainHTTP: true}
	client := New(ours, nil)
	ask := func(text string) (string, bool) {
		t.Helper()
		ref, err := ours.Parse(ours.Host + text)
		if err != nil {
			t.Fatal(err)
		}
		digest, exists, err := client.Digest(context.Background(), ref)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return digest, exists
	}
	if _, exists := ask("/acme/pump:v2"); exists {
		t.Error("an image before it was pushed")
	}
	pushed, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.ParseReference(ours.Host+"/acme/pump:v2", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, pushed); err != nil {
		t.Fatal(err)
	}
	want, err := pushed.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for text, exists := range map[string]bool{
		"/acme/pump:v2": true, "/acme/pump@" + want.String(): true, "/acme/pump:v1@" + want.String(): true,
		"/acme/pump:v1": false, "/acme/pump": false, "/acme/pum:v2": false, "/acme/pump@" + emptyDigest: false,
	} {
		digest, got := ask(text)
		if got != exists || got && digest != want.String() {
			t.Errorf("%s: %q %t, want %t", text, digest, got, exists)
		}
	}
	server.Close()
	ref, _ := ours.Parse(ours.Host + "/acme/pump:v2")
	_, _, err = client.Digest(context.Background(), ref)
	wantBad(t, err, "connection refused")
}

func TestNeitherFoundNorNotFound(t *testing.T) {
	for code, says := range map[int]string{403: "403 Forbidden", 401: "neither", 500: "500", 503: "503", 204: "204", 405: "405", 418: "418"} {
		w := &world{hosts: map[string]http.HandlerFunc{host: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }}}
		refused(t, w, says)
	}
}

func TestDigestIsHashedWhereTheRegistrySaysNone(t *testing.T) {
	const body = `{"schemaVersion": 2}`
	get := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Write([]byte(body))
		}
	}
	w := &world{hosts: map[string]http.HandlerFunc{host: get}}
	got, exists, err := ask(t, w, secure, nil, "reg.lab/x/y:v2")
	if want := digest.FromString(body).String(); err != nil || !exists || got != want {
		t.Errorf("got %q %t %v, want %s", got, exists, err, want)
	}
	w.wants(t, "HEAD "+manifest, "GET "+manifest)
	byDigest := "reg.lab/x/y@" + digest.SHA512.FromString(body).String()
	if _, exists, err := ask(t, w, secure, nil, byDigest); err != nil || !exists {
		t.Errorf("by another algorithm: %t %v", exists, err)
	}
	_, _, err = ask(t, w, secure, nil, "reg.lab/x/y@"+emptyDigest)
	wantBad(t, err, "answers for "+emptyDigest)

	for name, handler := range map[string]http.HandlerFunc{
		"larger than": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.Write(make([]byte, limits.Manifest+1))
			}
		},
		"500 Internal Server Error: disk  on fire": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.Error(w, "disk\x1b on fire", 500)
			}
		},
		`gives "nonsense"`: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Docker-Content-Digest", "nonsense") },
	} {
		refused(t, &world{hosts: map[string]http.HandlerFunc{host: handler}}, name)
	}
}

func TestRedirects(t *testing.T) {
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				w.Header().Set("Docker-Content-Digest", shown)
				return
			}
			http.Redirect(w, r, address, http.StatusTemporaryRedirect)
		}
	}
	w := &world{hosts: map[string]http.HandlerFunc{host: to("/elsewhere")}}
	found(t, w)
	w.wants(t, "HEAD "+manifest, "HEAD https://reg.lab/elsewhere")
	for _, address := range []string{"https://evil.example/", "http://reg.lab/elsewhere", "https://auth.example/", "https://reg.lab:444/", "//169.254.169.254/"} {
		w := &world{hosts: map[string]http.HandlerFunc{host: to(address)}}
		refused(t, w, "redirects to")
		w.wants(t, "HEAD "+manifest)
	}
	w = &world{hosts: map[string]http.HandlerFunc{host: to("/v2/x/y/manifests/v2")}}
	refused(t, w, "redirects more than")
}

// busy answers 429 a number of times.
func busy(times int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if times > 0 {
			times--
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Docker-Content-Digest", shown)
	}
}

func TestTooManyRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		times int
		after string
		wait  time.Duration
		found bool
		sent  int
	}{
		"once":             {1, "2", 2 * time.Second, true, 2},
		"until a time":     {1, time.Unix(946684803, 0).UTC().Format(http.TimeFormat), 3 * time.Second, true, 2}, // a bubble begins 2000-01-01
		"twice":            {2, "1", time.Second, false, 2},
		"later than we do": {1, "3600", 0, false, 1},
		"without a time":   {1, "", 0, false, 1},
		"nonsense":         {1, "-1", 0, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{hosts: map[string]http.HandlerFunc{host: busy(tc.times, tc.after)}}
				start := time.Now()
				if tc.found {
					found(t, w)
				} else {
					refused(t, w, "429")
				}
				if waited := time.Since(start); waited != tc.wait {
					t.Errorf("waited %s, want %s", waited, tc.wait)
				}
				if len(w.sent) != tc.sent {
					t.Errorf("sent %d requests, want %d", len(w.sent), tc.sent)
				}
			})
		})
	}
	w := &world{hosts: map[string]http.HandlerFunc{host: busy(1, "3600")}}
	_, _, err := ask(t, w, secure, nil, "reg.lab/x/y:v2")
	if got := fault.From(err).RetryAfter; got != time.Hour {
		t.Errorf("the caller is told to wait %s, want 1h", got)
	}
}

func TestSilentRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		client := newClient(secure, nil, silent{w})
		ref, _ := secure.Parse("reg.lab/x/y:v2")
		start := time.Now()
		_, _, err := client.Digest(context.Background(), ref)
		wantBad(t, err, "in time")
		if waited := time.Since(start); waited != limits.RegistryTime {
			t.Errorf("gave up after %s, want %s", waited, limits.RegistryTime)
		}
	})
}

// silent never answers.
type silent struct{ *world }

func (silent) RoundTrip(request *http.Request) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

func TestLoginOfSecret(t *testing.T) {
	ours := image.Registry{Host: "reg.lab:5000", Auth: "registry-auth"}
	for config, want := range map[string]string{
		`{"auths": {"reg.lab:5000": {"username": "ci", "password": "pw"}}}`:                            "ci:pw",
		`{"auths": {"https://reg.lab:5000/v2/": {"auth": "Y2k6cHc="}}}`:                                "ci:pw",
		`{"auths": {"reg.lab": {"auth": "Y2k6cHc="}, "reg.lab:5000.evil": {"auth": "Y2k6cHc="}}}`:      "",
		`{"auths": {"other": {"auth": "eDp5"}, "reg.lab:5000": {"username": "ci", "password": "pw"}}}`: "ci:pw",
		`{}`: "", `not JSON, pw`: "", ``: "",
	} {
		login := FromSecret(secrets{"registry-auth": {".dockerconfigjson": []byte(config)}}, ours)
		user, password, err := login(context.Background())
		switch {
		case want == "" && (err == nil || user != "" || strings.Contains(err.Error(), "pw")):
			t.Errorf("%s: got %q %v, want an error without the Secret's text", config, user, err)
		case want != "" && (err != nil || user+":"+password != want):
			t.Errorf("%s: got %s:%s %v", config, user, password, err)
		}
	}
	if _, _, err := FromSecret(secrets{}, ours)(context.Background()); fault.KindOf(err) != fault.Internal {
		t.Errorf("a Secret that is not there: %v; a 404 would say that the image is not", err)
	}
	if FromSecret(secrets{}, image.Registry{Host: "reg.lab"}) != nil {
		t.Error("a registry without a Secret has no login")
	}
}

type secrets map[string]map[string][]byte

func (s secrets) Secret(_ context.Context, name string) (map[string][]byte, error) {
	if data, ok := s[name]; ok {
		return data, nil
	}
	return nil, fault.New(fault.NotFound, "secret %s does not exist", name)
}

func FuzzLogin(f *testing.F) {
	f.Add([]byte(`{"auths": {"reg.lab:5000": {"username": "ci", "password": "pw"}}}`))
	f.Add([]byte(`{"auths": {"https://reg.lab:5000/v2/": {"auth": "Y2k6cHc="}}, "credHelpers": {}}`))
	f.Add([]byte(`{"auths": {"reg.lab:5000": {"auth": "=", "identitytoken": 7}}}`))
	f.Fuzz(func(t *testing.T, config []byte) {
		_, password, err := loginOf(config, image.Registry{Host: "reg.lab:5000", Auth: "registry-auth"})
		if err != nil && (fault.KindOf(err) != fault.Internal || password != "") {
			t.Errorf("%q: %q %v", config, password, err)
		}
	})
}
