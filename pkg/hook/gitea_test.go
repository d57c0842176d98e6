package hook_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

const giteaDigest = "2ed02cb59eb17ddfd673f7ae61d3f98f7e0c0106eac490782d2fdb04b4345429"

func TestGiteaSignature(t *testing.T) {
	body := string(read(t, "case03_gitea.json"))
	form := url.Values{"payload": {body}}.Encode()
	const isForm = "Content-Type: application/x-www-form-urlencoded"
	wrong := strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		provider string
		headers  []string
		body     string
		want     fault.Kind
	}{
		"bare":                      {"gitea", []string{"X-Gitea-Signature: " + giteaDigest}, body, ""},
		"upper case":                {"gitea", []string{"X-Gitea-Signature: " + strings.ToUpper(giteaDigest)}, body, ""},
		"prefixed":                  {"gitea", []string{"X-Gitea-Signature: sha256=" + giteaDigest}, body, ""},
		"sha512 prefix":             {"gitea", []string{"X-Gitea-Signature: sha512=" + giteaDigest}, body, fault.Unproven},
		"none":                      {"gitea", nil, body, fault.Unproven},
		"twice":                     {"gitea", []string{"X-Gitea-Signature: " + giteaDigest, "X-Gitea-Signature: " + giteaDigest}, body, fault.Unproven},
		"wrong":                     {"gitea", []string{"X-Gitea-Signature: " + wrong}, body, fault.Unproven},
		"short":                     {"gitea", []string{"X-Gitea-Signature: 2e"}, body, fault.Unproven},
		"odd":                       {"gitea", []string{"X-Gitea-Signature: 2ed"}, body, fault.Unproven},
		"only GitHub's header":      {"gitea", []string{"X-Hub-Signature-256: sha256=" + giteaDigest}, body, fault.Unproven},
		"only Gogs's header":        {"gitea", []string{"X-Gogs-Signature: " + giteaDigest}, body, fault.Unproven},
		"only Forgejo's header":     {"gitea", []string{"X-Forgejo-Signature: " + giteaDigest}, body, fault.Unproven},
		"all headers":               {"gitea", []string{"X-Gitea-Signature: " + giteaDigest, "X-Gogs-Signature: " + wrong, "X-Hub-Signature-256: sha256=" + wrong}, body, ""},
		"the form's JSON is signed": {"gitea", []string{isForm, "X-Gitea-Signature: " + giteaDigest}, form, ""},
		"the form is not":           {"gitea", []string{isForm, "X-Gitea-Signature: " + sign(lamp, []byte(form))}, form, fault.Unproven},
		"two payloads":              {"gitea", []string{isForm, "X-Gitea-Signature: " + giteaDigest}, form + "&" + form, fault.Unproven},
		"not a form":                {"gitea", []string{isForm, "X-Gitea-Signature: " + giteaDigest}, "payload=%zz", fault.Unproven},
		"forgejo":                   {"forgejo", []string{"X-Forgejo-Signature: " + giteaDigest}, body, ""},
		"forgejo by gitea's header": {"forgejo", []string{"X-Gitea-Signature: " + giteaDigest}, body, ""},
		"forgejo's own counts":      {"forgejo", []string{"X-Forgejo-Signature: " + wrong, "X-Gitea-Signature: " + giteaDigest}, body, fault.Unproven},
		"forgejo twice":             {"forgejo", []string{"X-Forgejo-Signature: " + giteaDigest, "X-Forgejo-Signature: " + wrong}, body, fault.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			h := compile(t, tc.provider, route(func(r *hook.RouteSpec) { r.Paths = []string{"never/**"} }))
			d := hook.Delivery{Header: headers(append(tc.headers, "X-Gitea-Event: push", "X-Gitea-Delivery: 7a")...), Body: []byte(tc.body)}
			out, err := h.Accept(d, noon)
			wantKind(t, err, tc.want, giteaDigest)
			if err != nil {
				return
			}
			// 9 commits in all and none listed: nobody knows the paths.
			if e := out.Events[0]; e.PathsComplete || e.SHA != strings.Repeat("4", 40) || e.Branch != "main" || e.Delivery != "7a" {
				t.Errorf("event %+v", e)
			}
			if out.Decisions[0].Call != "submit" {
				t.Errorf("decision %+v", out.Decisions[0])
			}
		})
	}
}

func gitea(body string) hook.Delivery {
	return hook.Delivery{Header: headers("X-Gitea-Event: push", "X-Gitea-Signature: "+sign(lamp, []byte(body))), Body: []byte(body)}
}

func TestGiteaPush(t *testing.T) {
	commit := func(id string) string {
		return `{"id":"` + id + `","message":"m` + id + `","timestamp":"2026-01-01T00:00:00Z","added":["a` + id + `"],"modified":[],"removed":[]}`
	}
	push := func(rest string) string { return `{"ref":"refs/heads/main","before":"11","after":"22",` + rest + `}` }
	for name, tc := range map[string]struct {
		body     string
		complete bool
		message  string
		ignored  hook.Reason
	}{
		"whole":          {push(`"total_commits":2,"commits":[` + commit("22") + `,` + commit("21") + `]`), true, "m22", ""},
		"head commit":    {push(`"total_commits":1,"commits":[` + commit("22") + `],"head_commit":{"id":"22","message":"head"}`), true, "head", ""},
		"cut at 5":       {push(`"total_commits":6,"commits":[` + strings.Repeat(commit("21")+",", 4) + commit("22") + `]`), false, "m22", ""},
		"total unknown":  {push(`"commits":[` + commit("22") + `]`), false, "m22", ""},
		"created":        {`{"ref":"refs/heads/main","before":"0000","after":"22","total_commits":1,"commits":[` + commit("22") + `]}`, false, "m22", ""},
		"files are null": {push(`"total_commits":1,"commits":[{"id":"22","message":"m22","added":null,"modified":null,"removed":null}]`), false, "m22", ""},
		"deleted":        {`{"ref":"refs/heads/old","before":"11","after":"0000"}`, false, "", hook.IgnoredDeletion},
	} {
		t.Run(name, func(t *testing.T) {
			out := accept(t, compile(t, "gitea", route(nil)), gitea(tc.body))
			e := out.Events[0]
			if e.PathsComplete != tc.complete || e.Message != tc.message || out.Decisions[0].Ignored != tc.ignored {
				t.Errorf("event %+v, decision %+v", e, out.Decisions[0])
			}
		})
	}
}
