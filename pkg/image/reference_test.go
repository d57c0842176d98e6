package image

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
)

var lab = Registry{Host: "reg.lab:5000", PlainHTTP: true}

func TestManifestOfReference(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for ref, want := range map[string]string{
		"reg.lab:5000/acme/pump:v2":                    "http://reg.lab:5000/v2/acme/pump/manifests/v2",
		"reg.lab:5000/acme/pump":                       "http://reg.lab:5000/v2/acme/pump/manifests/latest",
		"reg.lab:5000/pump@sha256:" + hex:              "http://reg.lab:5000/v2/pump/manifests/sha256:" + hex,
		"reg.lab:5000/a/b/c/pump:v2@sha256:" + hex:     "http://reg.lab:5000/v2/a/b/c/pump/manifests/sha256:" + hex,
		"reg.lab:5000/acme/pump:V2.1_x-y":              "http://reg.lab:5000/v2/acme/pump/manifests/V2.1_x-y",
		"reg.lab:5000/acme/pump-models__x.y:2026.1_rc": "http://reg.lab:5000/v2/acme/pump-models__x.y/manifests/2026.1_rc",
	} {
		got, err := lab.Parse(ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if url := lab.ManifestURL(got); url != want {
			t.Errorf("%s: got %s, want %s", ref, url, want)
		}
	}
	secure := Registry{Host: "reg.lab"}
	ref, err := secure.Parse("reg.lab/pump:1")
	if err != nil || secure.ManifestURL(ref) != "https://reg.lab/v2/pump/manifests/1" {
		t.Errorf("without plainHTTP: %s %v", secure.ManifestURL(ref), err)
	}
}

func TestReferenceRefused(t *testing.T) {
	const elsewhere, none = "is not in the registry of the cluster", "is not an image reference"
	for ref, want := range map[string]string{
		"reg.lab/acme/pump:v2":                               elsewhere,
		"other:5000/acme/pump":                               elsewhere,
		"acme/pump:v2":                                       elsewhere,
		"pump":                                               elsewhere,
		"docker.io/acme/pump":                                elsewhere,
		"reg.lab:5000.evil.example/acme/pump":                none,
		"evil.example/reg.lab:5000/pump":                     none,
		"REG.lab:5000/acme/pump":                             elsewhere,
		"reg.lab:5000/":                                      none,
		"reg.lab:5000/Acme/pump":                             none,
		"reg.lab:5000/acme/pump:":                            none,
		"reg.lab:5000/acme/pump@sha256:12":                   none,
		"reg.lab:5000/acme/pump@" + strings.Repeat("a", 64):  none,
		"reg.lab:5000/acme/../x":                             none,
		"reg.lab:5000/acme//x":                               none,
		"reg.lab:5000/acme/pump?x=1":                         none,
		"reg.lab:5000/acme/pump#x":                           none,
		"http://reg.lab:5000/acme/pump":                      none,
		"user@reg.lab:5000/acme/pump":                        none,
		"reg.lab:5000/acme/pump,push=false":                  none,
		"reg.lab:5000/acme/{{x}}":                            none,
		" reg.lab:5000/acme/pump":                            none,
		"reg.lab:5000/acme/pump\n":                           none,
		"sha256:" + strings.Repeat("a", 64):                  elsewhere,
		strings.Repeat("a", 64):                              elsewhere,
		"":                                                   none,
		strings.Repeat("a", 10_000):                          none,
		"reg.lab:5000/" + strings.Repeat("a", 10_000):        none,
		"reg.lab:5000/acme/pump:" + strings.Repeat("v", 129): none,
	} {
		_, err := lab.Parse(ref)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want 422: %s", ref, err, want)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%.60q: the error is as long as the text", ref)
		}
	}
	if _, err := (Registry{}).Parse("pump"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("without a registry: %v", err)
	}
}

func TestRepositoryHasItsHost(t *testing.T) {
	ref, err := lab.Parse("reg.lab:5000/acme/pump:v2")
	if err != nil || ref.Repository() != "reg.lab:5000/acme/pump" || ref.Path() != "acme/pump" {
		t.Errorf("%q and %q: %v", ref.Repository(), ref.Path(), err)
	}
}

func FuzzReference(f *testing.F) {
	for _, seed := range []string{"reg.lab:5000/acme/pump:v2", "reg.lab:5000/a@sha256:" + strings.Repeat("0", 64), "reg.lab:5000/acme/../x", "reg.lab:5000/a:b@c", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := lab.Parse(text)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q: %v is no 422", text, err)
			}
			return
		}
		// What is taken is safe wherever it goes: a URL, a list of options, a template.
		if !strings.HasPrefix(text, "reg.lab:5000/") || strings.ContainsAny(text, " ,?#{}$%\\\"'") || strings.Contains(ref.Path(), "..") {
			t.Errorf("%q was taken", text)
		}
		again, err := lab.Parse(ref.String())
		if err != nil || again != ref {
			t.Errorf("%q became %q, which reads as %v, %v", text, ref, again, err)
		}
	})
}
