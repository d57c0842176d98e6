package image

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
)

var (
	hosts = GitHosts{TLS: []string{"git.lab", "git.lab:8443"}, Plain: []string{"git.local:3000"}}
	sha   = strings.Repeat("1f3c", 10)
)

func mistakes(check func(*fault.List)) []string {
	var list fault.List
	check(&list)
	var all []string
	if err := list.Err(fault.Invalid, ""); err != nil {
		for _, p := range fault.From(err).Problems {
			all = append(all, p.Path)
		}
	}
	return all
}

func TestGitTaken(t *testing.T) {
	for want, git := range map[string]Git{
		"https://git.lab/acme/pump.git#" + sha:                         {URL: "https://git.lab/acme/pump.git", SHA: sha},
		"https://git.lab:8443/a/b/c.d_e+f~g-h.git#" + sha + ":sub/dir": {URL: "https://git.lab:8443/a/b/c.d_e+f~g-h.git", SHA: sha, Path: "sub/dir"},
		"http://git.local:3000/x.git#" + sha:                           {URL: "http://git.local:3000/x.git", SHA: sha},
		"https://git.local:3000/x.git#" + sha:                          {URL: "https://git.local:3000/x.git", SHA: sha},
		"https://git.lab/x.git#" + strings.Repeat("a", 64):             {URL: "https://git.lab/x.git", SHA: strings.Repeat("a", 64)},
	} {
		if got := mistakes(func(l *fault.List) { git.Check("git", hosts, l) }); got != nil {
			t.Errorf("%+v is refused: %v", git, got)
		}
		if got := git.context(); got != want {
			t.Errorf("context %s, want %s", got, want)
		}
	}
}

func TestGitRefused(t *testing.T) {
	good := Git{URL: "https://git.lab/acme/pump.git", SHA: sha}
	for _, url := range []string{
		"", "git.lab/x.git", "https://git.lab/x", "https://git.lab/.git", "https://git.lab.git", "https://git.lab//x.git",
		"http://git.lab/x.git", "ssh://git.lab/x.git", "git://git.lab/x.git", "file:///etc/x.git", "git@git.lab:x.git",
		"HTTPS://git.lab/x.git", "https://GIT.lab/x.git", "https://git.lab:443/x.git", "https://other/x.git", "https://git.lab.evil/x.git",
		"https://user@git.lab/x.git", "https://user:secret@git.lab/x.git", "https://git.lab@evil/x.git", `https://git.lab\@evil/x.git`,
		"https://git.lab/x.git?a=.git", "https://git.lab/x.git#main", "https://git.lab/x.git#a.git", "https://git.lab/x?y.git",
		"https://git.lab/../x.git", "https://git.lab/a/../x.git", "https://git.lab/./x.git", "https://git.lab/%2e%2e/x.git",
		"https://git.lab/x.git\n", "https://git.lab/x y.git", "https://git.lab/x\x00.git", "https://git.lab/ü.git", "https://gıt.lab/x.git",
		"https://[::1]/x.git", "https://git.lab:/x.git", "https://git.lab:999999/x.git", "https://git.lab/{{x}}.git", "https://git.lab/$(x).git",
		"-https://git.lab/x.git", "--upload-pack=x.git", "https://git.lab/" + strings.Repeat("a", 2000) + ".git",
	} {
		git := good
		git.URL = url
		if got := mistakes(func(l *fault.List) { git.Check("build.git", hosts, l) }); !slices.Equal(got, []string{"build.git.url"}) {
			t.Errorf("url %q: mistakes at %v", url, got)
		}
	}
	for _, s := range []string{"", "main", "1f3c", sha + "0", strings.ToUpper(sha), sha[:39] + "g", sha + "\n", "refs/heads/main", "-" + sha[1:], sha[:39] + ":"} {
		git := good
		git.SHA = s
		if got := mistakes(func(l *fault.List) { git.Check("git", hosts, l) }); !slices.Equal(got, []string{"git.sha"}) {
			t.Errorf("sha %q: mistakes at %v", s, got)
		}
	}
	for _, path := range []string{"/", "/etc", "..", "a/..", "a/../b", ".", "./a", "a//b", "a/", "a b", "a:b", "a#b", "a?b", `a\b`, "a%2fb", "{{x}}", "a\n", "ü", strings.Repeat("a", 2000)} {
		git := good
		git.Path = path
		if got := mistakes(func(l *fault.List) { git.Check("git", hosts, l) }); !slices.Equal(got, []string{"git.path"}) {
			t.Errorf("path %q: mistakes at %v", path, got)
		}
	}
	bad := Git{}
	if got := mistakes(func(l *fault.List) { bad.Check("git", hosts, l) }); !slices.Equal(got, []string{"git.sha", "git.url"}) {
		t.Errorf("all mistakes at once: %v", got)
	}
}

func FuzzGitURL(f *testing.F) {
	for _, seed := range []string{"https://git.lab/acme/pump.git", "http://git.local:3000/x.git", "https://git.lab@evil/x.git", `https://git.lab\@evil/x.git`, "https://git.lab/../x.git"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if hosts.problem(text) != "" {
			return
		}
		// What is taken means to a URL parser what it meant to us.
		parsed, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q was taken: %v", text, err)
		}
		plain := parsed.Host == "git.local:3000"
		if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" || parsed.RawPath != "" ||
			!plain && (parsed.Scheme != "https" || parsed.Host != "git.lab" && parsed.Host != "git.lab:8443") ||
			!strings.HasSuffix(parsed.Path, ".git") || strings.Contains(parsed.Path, "/../") || parsed.String() != text {
			t.Errorf("%q was taken as %+v", text, parsed)
		}
	})
}
