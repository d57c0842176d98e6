package docs

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/strict"
)

const root = ".."

// The configs that examples belong to.
const (
	exampleConfig = "docs/examples/config.yaml"
	localConfig   = "manifests/overlays/local/config.yaml"
)

// reads says how the example files of the repository are read: each by the
// code that reads it where it is used.
var reads = map[string]func(*testing.T, string){
	"docs/examples/run.yaml":            aRun,
	"docs/examples/run.json":            request("submit"),
	"docs/examples/build.json":          request("build-image"),
	"docs/examples/push.json":           request("push"),
	"docs/examples/generate.json":       request("generate"),
	"docs/examples/push.http":           delivery,
	"docs/examples/nightly.http":        delivery,
	"docs/examples/gordo.yaml":          project,
	"docs/examples/preempted.yaml":      recorded,
	"docs/examples/preempted-pods.yaml": podsSeen,

	"demo/push.json": payload,
}

// examples lists the files that somebody may copy.
func examples(t *testing.T) []string {
	t.Helper()
	files := []string{"demo/push.json"}
	for _, folder := range []string{"docs/examples", "manifests"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			if err == nil && !entry.IsDir() && (folder != "manifests" || entry.Name() == "config.yaml") {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestEveryExampleIsRead(t *testing.T) {
	files := examples(t)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			check, ok := reads[file]
			switch {
			case ok:
				check(t, file)
			case filepath.Base(file) == "config.yaml":
				load(t, file)
			default:
				t.Error("no test reads this example")
			}
		})
	}
	for file := range reads {
		if !slices.Contains(files, file) {
			t.Errorf("%s is not there", file)
		}
	}
}

// TestEveryYAMLBlockIsRead reads what the pages show as YAML: those of the README,
// of alerts.md, of commit-status.md, of gordo.md and of hooks.md are configs, those of functions.md and runs.md are runs.
func TestEveryYAMLBlockIsRead(t *testing.T) {
	pages, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range pages {
		blocks, err := Blocks(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			if block.Language() != "yaml" {
				continue
			}
			seen++
			switch page {
			case "README.md", "docs/alerts.md", "docs/argo-events.md", "docs/commit-status.md", "docs/gordo.md", "docs/hooks.md":
				parse(t, block.String(), []byte(block.Text))
			case "docs/functions.md", "docs/runs.md":
				checkRun(t, block.String(), []byte(block.Text))
			default:
				t.Errorf("%s: no test reads this", block)
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d blocks were read", seen)
	}
}

// secretOf is a secret of a config, by its file or variable: GITHUB_SECRET is
// demo-github-secret, as the pages set it. Keys of Standard Webhooks are in base64.
func secretOf(name string) string {
	if strings.HasSuffix(name, "-signing") {
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte("demo-"+name))
	}
	return "demo-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

const mounted = "/etc/runhook-secrets/"

var secretFile = regexp.MustCompile(mounted + `[a-z-]+`)

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// load reads a config with secrets, as serving does.
func load(t *testing.T, file string) (*config.Config, *functions.Table) {
	t.Helper()
	return parse(t, file, read(t, file))
}

func parse(t *testing.T, file string, text []byte) (*config.Config, *functions.Table) {
	t.Helper()
	folder := t.TempDir()
	text = secretFile.ReplaceAllFunc(text, func(named []byte) []byte {
		name := strings.TrimPrefix(string(named), mounted)
		there := filepath.Join(folder, name)
		if err := os.WriteFile(there, []byte(secretOf(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		return []byte(there)
	})
	c, err := config.Parse(file, text, secretOf)
	if err != nil {
		t.Fatal(err)
	}
	table, err := functions.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, table
}

// aRun reads a run as `runhook render` does.
func aRun(t *testing.T, file string) { checkRun(t, file, read(t, file)) }

func checkRun(t *testing.T, file string, text []byte) {
	t.Helper()
	var asked run.Run
	if err := strict.YAML(file, text, &asked); err != nil {
		t.Fatal(err)
	}
	defaults := config.Default()
	defaults.Runs.Volumes.Claims = []string{"data"}
	if err := asked.Check(functions.Policy(&defaults)); err != nil {
		t.Error(err)
	}
}

// request reads a request of a function at the local cluster.
func request(function string) func(*testing.T, string) {
	return func(t *testing.T, file string) {
		_, table := load(t, localConfig)
		if err := table.CheckRequest(function, read(t, file)); err != nil {
			t.Error(err)
		}
	}
}

// delivery replays a saved request to the example config; it must lead to a call.
func delivery(t *testing.T, file string) {
	c, table := load(t, exampleConfig)
	saved, err := os.Open(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	report := table.Replayer(c).Replay(saved, time.Now())
	if report.Status != 202 || report.Decisions[0].Call == "" {
		t.Errorf("answered %d %s: %+v", report.Status, report.Error, report.Decisions)
	}
}

// payload delivers the demo's push, filled in as the demo does it.
func payload(t *testing.T, file string) {
	_, table := load(t, localConfig)
	body := []byte(strings.NewReplacer("SHA", hooktest.RandomHex(20), "TIME", "2026-01-02T03:04:05Z").Replace(string(read(t, file))))
	sent, err := hooktest.GitHubRequest("http://runhook/hooks/acme", body, []byte(secretOf("github-secret")))
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := table.Hooks()["acme"].Accept(hook.Delivery{Header: sent.Header, Body: body}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	for _, decision := range outcome.Decisions {
		if decision.Call == "" {
			continue // another route's branch
		}
		called++
		if err := table.CheckRequest(decision.Call, decision.Request); err != nil {
			t.Error(err)
		}
	}
	if called != 1 {
		t.Errorf("%d routes call a function, want one", called)
	}
}
