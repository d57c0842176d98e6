package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

var update = flag.Bool("update", false, "write the answers of the saved requests anew")

// replayer has the hooks of testdata/requests/hooks.yaml.
func replayer(t testing.TB) hook.Replayer {
	t.Helper()
	var specs []hook.Spec
	if err := strict.YAML("hooks.yaml", read(t, "requests/hooks.yaml"), &specs); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"LAMP": lamp, "OLD": "harbour-lamp-41", "SIGNING": whsec("0123456789abcdef0123456789abcdef")}
	r := hook.Replayer{BodyLimit: limits.HookBody, Check: refuseReleases}
	for _, spec := range specs {
		var secrets []secret.Value
		refs := spec.Secrets
		if spec.Secret != nil {
			refs = append(refs, *spec.Secret)
		}
		for _, ref := range refs {
			value, err := ref.Load(func(name string) string { return env[name] })
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, value)
		}
		h, problems := hook.Compile(spec, secrets, hook.Options{Functions: functions})
		if problems != nil {
			t.Fatalf("%s: %v", spec.Path, problems)
		}
		r.Hooks = append(r.Hooks, h)
	}
	return r
}

// refuseReleases stands for a function's own rules.
func refuseReleases(_ string, request json.RawMessage) error {
	if bytes.Contains(request, []byte("release/")) {
		return &fault.Error{Kind: fault.Invalid, Detail: "the run is not valid", Problems: []fault.Problem{{Path: "tasks[0].env.BRANCH", Detail: "is a release"}}}
	}
	return nil
}

// Every saved request has its answer beside it.
func TestReplay(t *testing.T) {
	saved, err := filepath.Glob("testdata/requests/*.http")
	if err != nil || len(saved) < 40 {
		t.Fatalf("%d saved requests, %v", len(saved), err)
	}
	r := replayer(t)
	for _, file := range saved {
		t.Run(filepath.Base(file), func(t *testing.T) {
			request, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(r.Replay(bytes.NewReader(request), noon)); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".http") + ".json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All fields are there, whatever was refused.
func TestReportJSON(t *testing.T) {
	got, err := json.Marshal(replayer(t).Replay(strings.NewReader("POST /hooks/x HTTP/1.1\r\nHost: a\r\n\r\n"), noon))
	if want := `{"status":404,"events":[],"decisions":[],"error":"the config has no hook of that path"}`; err != nil || string(got) != want {
		t.Errorf("%s", got)
	}
}

// The limit is met exactly by what fits, whoever declares it.
func TestReplayLimit(t *testing.T) {
	r := replayer(t)
	for _, name := range []string{"github-push", "github-push-chunked", "github-push-form"} {
		request := read(t, "requests/"+name+".http")
		r.BodyLimit = int64(len(read(t, "requests/github-push.http")) - bytes.Index(read(t, "requests/github-push.http"), []byte("\r\n\r\n")) - 4)
		if name == "github-push-form" {
			r.BodyLimit = int64(len(request) - bytes.Index(request, []byte("\r\n\r\n")) - 4)
		}
		if got := r.Replay(bytes.NewReader(request), noon); got.Status != 202 {
			t.Errorf("%s at the limit: %d %s", name, got.Status, got.Error)
		}
		r.BodyLimit--
		if got := r.Replay(bytes.NewReader(request), noon); got.Status != 413 {
			t.Errorf("%s over the limit: %d", name, got.Status)
		}
	}
}
