package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/strict"
)

// environment holds the secrets of testdata.
func environment(name string) string {
	return map[string]string{
		"CI_TOKEN": "ci-secret", "SENSOR_TOKEN": "sensor-secret", "ACME_NEW": "acme-new", "ACME_OLD": "acme-old",
		"ALERT_TOKEN": "alert-secret", "BUS": "bus-secret", "GIT_TOKEN": "git-secret", "BLANK": " \n",
	}[name]
}

func TestMinimal(t *testing.T) {
	c, err := Load("testdata/minimal.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		":8080": c.Listen, ":9090": c.Metrics, "": c.PublicURL, "simrun/worker=true": c.Cluster.Workers,
		"simrun/reserved": c.Cluster.Reservation, "runhook/run": c.Cluster.RunLabel, "runner": c.Cluster.ServiceAccount,
		"tcp://buildkitd:1234": c.Build.Address,
	} {
		if got != name {
			t.Errorf("got %q, want %q", got, name)
		}
	}
	if c.Runs.TTL.Duration != 72*time.Hour || c.Runs.Retries != 30 || c.Build.Timeout.Duration != 30*time.Minute || c.Cluster.Foreign != owner.ForeignRead {
		t.Errorf("%+v", c.Runs)
	}
	if cpu, memory := c.Runs.Resources.Cpu().String(), c.Runs.Resources.Memory().String(); cpu != "100m" || memory != "128Mi" {
		t.Errorf("runs.resources %s, %s", cpu, memory)
	}
	if cpu, memory := c.Cluster.Executor.Cpu().String(), c.Cluster.Executor.Memory().String(); cpu != "10m" || memory != "64Mi" {
		t.Errorf("cluster.executor %s, %s", cpu, memory)
	}
	if diff := cmp.Diff([]string{"persistentVolumeClaim", "emptyDir"}, c.Runs.Volumes.Kinds); diff != "" {
		t.Error(diff)
	}
	if c.Limits.HookBody.Value() != limits.HookBody || c.Limits.FunctionTime.Duration != limits.FunctionTime {
		t.Errorf("%+v", c.Limits)
	}
	if len(c.Auth.Tokens)+len(c.Auth.ServiceAccounts)+len(c.Hooks)+len(c.Sinks) != 0 || c.TLS != nil {
		t.Error("something is there by default")
	}
}

func TestFull(t *testing.T) {
	c, err := Load("testdata/full.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	if c.PublicURL != "https://runhook.acme.example/base" {
		t.Errorf("publicURL %q keeps its slash", c.PublicURL)
	}
	if cpu, memory := c.Cluster.Executor.Cpu().String(), c.Cluster.Executor.Memory().String(); cpu != "20m" || memory != "64Mi" {
		t.Errorf("cluster.executor %s, %s: a key that is not given keeps its default", cpu, memory)
	}
	if diff := cmp.Diff([]string{"persistentVolumeClaim", "secret"}, c.Runs.Volumes.Kinds); diff != "" {
		t.Error(diff)
	}
	if ci := c.Auth.Tokens[0]; !ci.Value.Equal("ci-secret") || ci.Runs != RunsOwn || ci.Queues[1] != "" {
		t.Errorf("%+v", ci)
	}
	if sensor := c.Auth.Tokens[1]; sensor.Runs != RunsAll || sensor.Hooks[0] != "acme" {
		t.Errorf("%+v", sensor)
	}
	if s := c.HookSecrets["acme"]; len(s) != 2 || !s[0].Equal("acme-new") || !s[1].Equal("acme-old") {
		t.Error("the hook's secrets, in their order")
	}
	if s := c.HookSecrets["alerts"]; len(s) != 1 || !s[0].Equal("alert-secret") {
		t.Error("the hook's one secret")
	}
	if !c.Sinks[0].Key.Equal("bus-secret") || !c.Sinks[2].Key.Equal("git-secret") {
		t.Error("the sinks' secrets")
	}
	if c.Limits.HookBody.Value() != 1<<20 || c.Limits.FunctionTime.Duration != 8*time.Second || c.Limits.HookTime.Duration != limits.HookTime {
		t.Errorf("%+v", c.Limits)
	}
	if got := c.Hooks[0].Routes[0].Set["params.sha"]; got != "event.sha" {
		t.Error(got)
	}
	err = c.CheckFunctions([]string{"submit", "status", "push", "alert", "record", "nodes", "placements", "reserve", "unreserve"})
	if err != nil {
		t.Error(err)
	}
	err = c.CheckFunctions([]string{"submit", "push", "alert", "record", "nodes", "placements", "unreserve"})
	want := "the config names unknown functions: " +
		`auth.serviceAccounts[0].functions[2]: testdata/full.yaml:39: "reserve" is not in the list of functions; ` +
		`auth.tokens[0].functions[1]: testdata/full.yaml:32: "status" is not in the list of functions; ` +
		`hooks[1].routes[0].function: testdata/full.yaml:54: "reserve" is not in the list of functions`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestBad compares the whole text: it is what a person reads who is stuck.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			c, err := Load(file, environment)
			if c != nil || err == nil {
				t.Fatal("it is taken")
			}
			told := fault.From(err).Detail + "\n"
			for _, p := range fault.From(err).Problems {
				told += p.String() + "\n"
			}
			if diff := cmp.Diff(string(want), told); diff != "" {
				t.Error(diff)
			}
			for _, word := range []string{"ci-secret", "acme-new"} {
				if strings.Contains(err.Error(), word) {
					t.Error("a secret is told")
				}
			}
		})
	}
}

func TestNoSuchFile(t *testing.T) {
	_, err := Load("testdata/nowhere.yaml", environment)
	if !errors.Is(err, os.ErrNotExist) || fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestWithoutSecrets(t *testing.T) {
	c, err := Load("testdata/full.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Auth.Tokens[0].Value.Equal("") || len(c.Auth.Tokens[0].Value.Bytes()) != 0 {
		t.Error("a token that was not read must equal nothing")
	}
}

func TestMetricsNeedTheirOwnAddress(t *testing.T) {
	_, err := Parse("c.yaml", []byte("namespace: runs\nmetrics: ':8080'\n"), environment)
	if err == nil || err.Error() != "the config is not right: metrics: c.yaml:2: is the address of listen; metrics have their own" {
		t.Error(err)
	}
	if _, err := Parse("c.yaml", []byte("namespace: runs\nlisten: '127.0.0.1:0'\nmetrics: '127.0.0.1:0'\n"), environment); err != nil {
		t.Errorf("port 0 is another one each time: %v", err)
	}
}

func TestLocateUsesTheFile(t *testing.T) {
	c, err := Load("testdata/full.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	var list fault.List
	list.Add(strict.Key("hooks[0].routes[0].set", "params.sha"), "no such field")
	err = c.Locate(list.Err(fault.Invalid, "the hooks are not right"))
	if want := `the hooks are not right: hooks[0].routes[0].set["params.sha"]: testdata/full.yaml:49: no such field`; err.Error() != want {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	bad, _ := filepath.Glob("testdata/bad/*.yaml")
	for _, file := range append(files, bad...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data, environment)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if k := fault.KindOf(err); k != "" && k != fault.Invalid && k != fault.Malformed {
			t.Fatal(err)
		}
	})
}
