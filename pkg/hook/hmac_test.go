package hook_test

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

func TestHMAC(t *testing.T) {
	const body = `{"job":"nightly"}`
	sha256, sha512 := sign(lamp, []byte(body)), sign512(lamp, []byte(body))
	for name, tc := range map[string]struct {
		algorithm string
		headers   []string
		want      fault.Kind
	}{
		"bare":                     {"", []string{"X-Sum: " + sha256}, ""},
		"prefixed":                 {"sha256", []string{"X-Sum: sha256=" + sha256}, ""},
		"upper case":               {"", []string{"X-Sum: sha256=" + strings.ToUpper(sha256)}, ""},
		"sha512":                   {"sha512", []string{"X-Sum: " + sha512}, ""},
		"sha512 prefixed":          {"sha512", []string{"X-Sum: sha512=" + sha512}, ""},
		"sha256 where sha512 is":   {"sha512", []string{"X-Sum: " + sha256}, fault.Unproven},
		"sha512 where sha256 is":   {"sha256", []string{"X-Sum: sha512=" + sha512}, fault.Unproven},
		"sha512 cut to sha256":     {"sha256", []string{"X-Sum: " + sha512[:64]}, fault.Unproven},
		"the prefix twice":         {"", []string{"X-Sum: sha256=sha256=" + sha256}, fault.Unproven},
		"none":                     {"", nil, fault.Unproven},
		"in another header":        {"", []string{"X-Hub-Signature-256: sha256=" + sha256}, fault.Unproven},
		"twice":                    {"", []string{"X-Sum: " + sha256, "X-Sum: " + sha256}, fault.Unproven},
		"joined by a proxy":        {"", []string{"X-Sum: " + sha256 + ", " + sha256}, fault.Unproven},
		"with a space":             {"", []string{"X-Sum: " + sha256 + " "}, fault.Unproven},
		"of another body's secret": {"", []string{"X-Sum: " + sign("harbour-lamp-43", []byte(body))}, fault.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			h := compileSpec(t, hook.Spec{
				Path: "jobs", Provider: "hmac", Header: "X-Sum", Algorithm: tc.algorithm, DeliveryHeader: "X-Job",
				Routes: []hook.RouteSpec{route(nil)},
			}, lamp)
			out, err := h.Accept(hook.Delivery{Header: headers(append(tc.headers, "X-Job: 17")...), Body: []byte(body)}, noon)
			wantKind(t, err, tc.want, sha256, sha512)
			if err != nil {
				return
			}
			if e, d := out.Events[0], out.Decisions[0]; e.Type != hook.Other || e.Delivery != "17" || d.Call != "submit" || d.Origin.Name != "" {
				t.Errorf("event %+v, decision %+v", e, d)
			}
		})
	}
}

// During a rotation every secret counts, with every provider.
func TestRotation(t *testing.T) {
	const body = `{"ref":"refs/heads/main","after":"22","object_kind":"push","push":{"changes":[]},"changes":[],"version":"4","alerts":[]}`
	proofs := map[string]func(secret string) []string{
		"github":           func(s string) []string { return []string{"X-Hub-Signature-256: sha256=" + sign(s, []byte(body))} },
		"gitlab":           func(s string) []string { return []string{"X-Gitlab-Token: " + s} },
		"gitea":            func(s string) []string { return []string{"X-Gitea-Signature: " + sign(s, []byte(body))} },
		"forgejo":          func(s string) []string { return []string{"X-Forgejo-Signature: " + sign(s, []byte(body))} },
		"bitbucket":        func(s string) []string { return []string{"X-Hub-Signature: sha256=" + sign(s, []byte(body))} },
		"bitbucket-server": func(s string) []string { return []string{"X-Hub-Signature: sha256=" + sign(s, []byte(body))} },
		"hmac":             func(s string) []string { return []string{"X-Sum: " + sign(s, []byte(body))} },
		"alertmanager":     func(s string) []string { return []string{"Authorization: Bearer " + s} },
		"bearer":           func(s string) []string { return []string{"Authorization: Bearer " + s} },
		"standard-webhooks": func(s string) []string {
			return webhookHeaders("id", noon, whsec(s), body)
		},
		"gitlab-signed": func(s string) []string { return webhookHeaders("id", noon, whsec(s), body) },
	}
	for provider := range hook.Providers {
		proof := proofs[provider]
		if proof == nil {
			t.Errorf("%s has no proof here", provider)
			continue
		}
		spec := hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{route(nil)}}
		written := []string{"first-secret", "second-secret"}
		switch provider {
		case "hmac":
			spec.Header = "X-Sum"
		case "standard-webhooks", "gitlab-signed":
			written = []string{whsec("first-secret"), whsec("second-secret")}
		}
		h := compileSpec(t, spec, written...)
		for given, want := range map[string]fault.Kind{"first-secret": "", "second-secret": "", "third-secret": fault.Unproven} {
			t.Run(provider+" "+given, func(t *testing.T) {
				_, err := h.Accept(hook.Delivery{Header: headers(proof(given)...), Body: []byte(body)}, noon)
				wantKind(t, err, want, given)
			})
		}
	}
}

// An empty secret must never make an empty proof right.
func TestEmptySecretIsRefused(t *testing.T) {
	for provider := range hook.Providers {
		spec := hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{route(nil)}}
		if provider == "hmac" {
			spec.Header = "X-Sum"
		}
		for name, secrets := range map[string][]string{"empty": {""}, "none": nil, "one of two is empty": {whsec("x"), ""}} {
			if h, problems := hook.Compile(spec, values(secrets), hook.Options{Functions: functions}); h != nil || len(problems) == 0 {
				t.Errorf("%s with secrets %s compiles", provider, name)
			}
		}
	}
}
