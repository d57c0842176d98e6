package registry

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

const bearer = `Bearer realm="https://auth.example/token?a=1,b=2",service="r",scope="repository:x/y:pull,push"`

func TestTokenIsAskedForOnce(t *testing.T) {
	w := &world{hosts: map[string]http.HandlerFunc{host: guarded(bearer), "https://auth.example": replies(`{"access_token":"T"}`)}}
	found(t, w)
	w.wants(t, "HEAD "+manifest, "GET https://auth.example/token", "HEAD "+manifest)
	want := map[string][]string{"a": {"1,b=2"}, "service": {"r"}, "scope": {"repository:x/y:pull"}}
	if diff := cmp.Diff(want, map[string][]string(w.sent[1].URL.Query())); diff != "" {
		t.Error(diff)
	}
	if w.sent[1].Header.Get("Authorization") != "" {
		t.Error("a password was sent though there is none")
	}
	if got := w.sent[2].Header.Get("Authorization"); got != "Bearer T" {
		t.Errorf("the registry was shown %q", got)
	}
}

func TestChallengesThatLeadToAToken(t *testing.T) {
	const realm = `realm="https://auth.example/token"`
	for name, challenges := range map[string][]string{
		"no service":             {"Bearer " + realm},
		"empty service":          {"Bearer " + realm + `,service=""`},
		"lower case":             {"bearer " + realm},
		"upper case":             {"BEARER REALM=" + strings.TrimPrefix(realm, "realm=")},
		"spaces":                 {"Bearer  " + realm + ` , scope = "x"`},
		"Basic before, two":      {`Basic realm="r"`, "Bearer " + realm},
		"Basic before, one":      {`Basic realm="r", Bearer ` + realm},
		"Basic behind":           {"Bearer " + realm + `, Basic realm="r"`},
		"Negotiate before":       {"Negotiate", "Negotiate YWJj==", "Bearer " + realm},
		"nonsense before":        {`,,= "`, "Bearer " + realm},
		"realm twice":            {"Bearer " + realm + `,realm="https://evil.example/token"`},
		"escapes in a parameter": {`Bearer error="a \"b\", c", ` + realm},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{hosts: map[string]http.HandlerFunc{host: guarded(challenges...), "https://auth.example": replies(`{"token":"T","expires_in":300}`)}}
			found(t, w)
			w.wants(t, "HEAD "+manifest, "GET https://auth.example/token", "HEAD "+manifest)
			if query := w.sent[1].URL.Query(); query.Has("service") {
				t.Errorf("a service nobody named: %q", query)
			}
		})
	}
}

func TestRealmsRefused(t *testing.T) {
	for realm, says := range map[string]string{
		"http://169.254.169.254/latest":      "neither itself nor one of cluster.registry.tokenHosts",
		"https://169.254.169.254/latest":     "neither itself",
		"https://evil.example/token":         "neither itself",
		"https://auth.example.evil/token":    "neither itself",
		"https://auth.example:8443/token":    "neither itself",
		"https://auth.example@evil.example/": "a user",
		"https://user@auth.example/token":    "a user",
		"http://auth.example/token":          "not https",
		"http://reg.lab/token":               "not https",
		"ftp://reg.lab/token":                "not https",
		"file:///etc/passwd":                 "no address",
		"//auth.example/token":               "not https",
		"/token":                             "no address",
		"https://auth.example/%zz":           "no address",
		"":                                   "no address",
	} {
		t.Run(realm, func(t *testing.T) {
			w := &world{hosts: map[string]http.HandlerFunc{host: guarded(`Bearer realm="` + realm + `"`)}}
			refused(t, w, says)
			w.wants(t, "HEAD "+manifest)
		})
	}
}

func TestRealmOfAPlainRegistry(t *testing.T) {
	plain := image.Registry{Host: "reg.lab:5000", PlainHTTP: true, TokenHosts: []string{"10.1.2.3:5001"}}
	for _, realm := range []string{"http://reg.lab:5000/token", "http://10.1.2.3:5001/token", "https://10.1.2.3:5001/token"} {
		address, _, _ := strings.Cut(realm, "/token")
		w := &world{hosts: map[string]http.HandlerFunc{address: replies(`{"token":"T"}`)}}
		registry := guarded(`Bearer realm="` + realm + `"`)
		own := w.hosts["http://reg.lab:5000"]
		w.hosts["http://reg.lab:5000"] = func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				own(rw, r)
				return
			}
			registry(rw, r)
		}
		if digest, exists, err := ask(t, w, plain, nil, "reg.lab:5000/x/y"); err != nil || !exists || digest != shown {
			t.Errorf("%s: %q %t %v", realm, digest, exists, err)
		}
	}
}

func TestTokenRepliesRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		reply http.HandlerFunc
		says  string
	}{
		"1 MiB":        {replies(`{"token":"` + strings.Repeat("T", 1<<20) + `"}`), "larger than"},
		"no token":     {replies(`{}`), "without a token"},
		"empty":        {replies(``), "no JSON"},
		"another type": {replies(`{"token": 7}`), "no JSON"},
		"a page":       {replies(`<html>`), "no JSON"},
		"refusal":      {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SECRET", http.StatusForbidden) }, "403"},
		"not there":    {http.NotFound, "404"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/token", http.StatusTemporaryRedirect)
		}, "redirects to https://evil.example"},
		"redirect to the registry": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://reg.lab/token", http.StatusTemporaryRedirect)
		}, "redirects to https://reg.lab"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{hosts: map[string]http.HandlerFunc{host: guarded(bearer), "https://auth.example": tc.reply}}
			refused(t, w, tc.says)
			w.wants(t, "HEAD "+manifest, "GET https://auth.example/token")
			if _, _, err := ask(t, w, secure, nil, "reg.lab/x/y:v2"); strings.Contains(err.Error(), "SECRET") {
				t.Error("the error says what a token host said")
			}
		})
	}
}

func TestLoginIsShownToWhomItIsFor(t *testing.T) {
	asked := 0
	login := func(context.Context) (string, string, error) { asked++; return "ci", "s3cret", nil }
	t.Run("token host", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(bearer), "https://auth.example": func(rw http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "ci" || password != "s3cret" {
				rw.WriteHeader(http.StatusForbidden)
				return
			}
			rw.Write([]byte(`{"token":"T"}`))
		}}}
		if _, exists, err := ask(t, w, secure, login, "reg.lab/x/y:v2"); err != nil || !exists {
			t.Errorf("%t %v", exists, err)
		}
		if _, _, sent := w.sent[0].BasicAuth(); sent {
			t.Error("the password was sent before anybody asked")
		}
	})
	t.Run("Basic", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: func(rw http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "ci" || password != "s3cret" {
				rw.Header().Set("WWW-Authenticate", `Basic realm="r"`)
				rw.WriteHeader(http.StatusUnauthorized)
			}
			// No digest: the password is needed for the manifest, too.
		}}}
		if digest, _, err := ask(t, w, secure, login, "reg.lab/x/y:v2"); err != nil || digest != emptyDigest {
			t.Errorf("%q %v", digest, err)
		}
		w.wants(t, "HEAD "+manifest, "HEAD "+manifest, "GET "+manifest)
	})
	t.Run("nobody else", func(t *testing.T) {
		asked = 0
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(`Bearer realm="https://evil.example/token"`)}}
		if _, _, err := ask(t, w, secure, login, "reg.lab/x/y:v2"); fault.KindOf(err) != fault.BadUpstream || asked != 0 {
			t.Errorf("%v; the password was fetched %d times", err, asked)
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(`Basic realm="r"`)}}
		_, _, err := ask(t, w, secure, login, "reg.lab/x/y:v2")
		wantBad(t, err, "401")
		if strings.Contains(err.Error(), "s3cret") {
			t.Error("the error says the password")
		}
	})
	t.Run("no password", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(`Basic realm="r"`)}}
		refused(t, w, "cluster.registry.auth")
	})
	t.Run("another scheme", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(`Negotiate`)}}
		refused(t, w, "neither Bearer nor Basic")
	})
	t.Run("the Secret cannot be read", func(t *testing.T) {
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(bearer)}}
		away := fault.New(fault.Unavailable, "the cluster is away")
		_, _, err := ask(t, w, secure, func(context.Context) (string, string, error) { return "", "", away }, "reg.lab/x/y:v2")
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{bearer, `Basic realm="r", Bearer realm=x`, `Negotiate YWJj==`, `Bearer realm="a\"`, `Bearer a=b=c,,d`, ",", `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		all := parseChallenges([]string{header, `Bearer realm="https://auth.example/token"`})
		last := all[len(all)-1]
		if last.scheme != "bearer" || last.parameters["realm"] != "https://auth.example/token" {
			t.Errorf("%q changes the header behind it: %v", header, all)
		}
		for _, c := range all {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) || strings.ContainsAny(c.scheme, " ,\"=") {
				t.Errorf("%q has a scheme %q", header, c.scheme)
			}
		}
		// Whatever a registry says, nothing goes elsewhere.
		w := &world{hosts: map[string]http.HandlerFunc{host: guarded(header)}}
		ref, err := secure.Parse("reg.lab/x/y:v2")
		if err != nil {
			t.Fatal(err)
		}
		if _, exists, err := newClient(secure, nil, w).Digest(context.Background(), ref); exists || err == nil {
			t.Errorf("%q let one in", header)
		}
		for _, r := range w.sent {
			if r.URL.Scheme != "https" || r.URL.Host != "reg.lab" && r.URL.Host != "auth.example" {
				t.Errorf("%q led to %s", header, r.URL)
			}
		}
	})
}
