package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/limits"
)

const withSinks = `namespace: runs
sinks:
- {name: bus, type: http, url: "https://bus", secret: {env: BUS}}
- {name: state, type: argo-events, url: "http://state"}
- {name: status, type: commit-status, provider: gitlab, baseURL: "https://git.lab", token: {env: GIT_TOKEN}, repositories: [acme/models/pump]}
`

// check tells what the watch would not start with, too.
func TestCheckMakesTheSinks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(withSinks), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"whsec_a2V5": "", "not base64": "sink bus: a signing secret is written whsec_<base64>"} {
		var said, complaint strings.Builder
		code := Run(t.Context(), []string{"check", "-c", file}, System{
			Getenv: func(name string) string { return map[string]string{"BUS": key, "GIT_TOKEN": "git-secret"}[name] },
			Out:    &said, Err: &complaint,
		})
		if (code == 0) != (want == "") || !strings.Contains(complaint.String(), want) || strings.Contains(complaint.String(), "git-secret") {
			t.Errorf("%q: exit code %d, %s", key, code, &complaint)
		}
		if right := map[bool]string{true: "the config is right: 0 hooks, 0 routes, 3 sinks\n"}[want == ""]; said.String() != right {
			t.Errorf("%q: said %q, want %q", key, &said, right)
		}
	}
}

// Statuses wait for a host's hour to pass, and only the latest one of a commit
// is worth that; events are all told, and each for minutes.
func TestHowEachSinkSends(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(withSinks), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := loadConfig(file, System{Getenv: func(string) string { return "whsec_a2V5" }})
	if err != nil {
		t.Fatal(err)
	}
	all, err := sinksOf(c)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sinks: %v", len(all), err)
	}
	for i, o := range all {
		if status := i == 2; o.Latest != status || (o.Retry == limits.StatusRetry) != status {
			t.Errorf("%s: latest %v, retry %s", o.Name, o.Latest, o.Retry)
		}
	}
	if link := linksOf(c)("run"); link != "" {
		t.Errorf("without a public address the link is %q", link)
	}
	c.PublicURL = "https://hooks"
	if link := linksOf(c)("run"); link != "https://hooks/functions/status?run=run" {
		t.Errorf("the link is %q", link)
	}
}
