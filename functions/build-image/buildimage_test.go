package buildimage

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/limits"
)

const (
	files  = `{"ref":"reg.lab:5000/acme/pump:v2","files":{"Dockerfile":"FROM scratch\n"},"buildArgs":{"TOKEN":"hunter2"}}`
	git    = `{"ref":"reg.lab:5000/acme/pump:v2","git":{"url":"https://git.lab/acme/pump.git","sha":"1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c"}}`
	pushed = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	older  = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

var (
	settings = image.Settings{
		Registry: image.Registry{Host: "reg.lab:5000"},
		Address:  "tcp://buildkitd:1234",
		Image:    "reg.lab:5000/buildctl:1",
		Timeout:  30 * time.Minute,
		Hosts:    image.GitHosts{TLS: []string{"git.lab"}},
	}
	ci = function.Caller{Name: "ci", Repositories: []string{"reg.lab:5000/acme"}}
)

func call(t testing.TB, c *cluster, registry *shows, caller function.Caller, body string) (function.Response, Response, error) {
	t.Helper()
	answer, err := New(c, registry, settings).Handle(t.Context(), function.Call{Caller: caller, Body: json.RawMessage(body)})
	response, _ := answer.Body.(Response)
	return answer, response, err
}

// is wants an answer with a code and a phase.
func is(t testing.TB, c *cluster, registry *shows, body string, code int, phase image.Phase) Response {
	t.Helper()
	answer, got, err := call(t, c, registry, ci, body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != code || got.Phase != phase {
		t.Fatalf("%d %s (%s), want %d %s", answer.Status, got.Phase, got.Message, code, phase)
	}
	if got.Ref != "reg.lab:5000/acme/pump:v2" || !strings.HasPrefix(got.Build, "build-") {
		t.Errorf("got %+v", got)
	}
	return got
}

func TestBuildFromBeginningToEnd(t *testing.T) {
	for name, body := range map[string]string{"files": files, "git": git} {
		t.Run(name, func(t *testing.T) {
			c, registry := newCluster(), &shows{digest: older}
			is(t, c, registry, body, http.StatusAccepted, image.Pending)
			job := slices.Collect(maps.Values(c.jobs))[0]
			if *job.Spec.Suspend || job.Annotations["runhook/caller"] != "ci" {
				t.Errorf("the Job is not under way: %+v", job)
			}
			if _, has := c.configMaps[job.Name]; has != (name == "files") {
				t.Errorf("ConfigMap: %t", has)
			}
			is(t, c, registry, body, http.StatusAccepted, image.Pending)
			c.ends(batchv1.JobComplete, "", pushed)
			registry.digest = pushed
			got := is(t, c, registry, body, http.StatusOK, image.Succeeded)
			if got.Digest != pushed || got.Log != "" {
				t.Errorf("got %+v", got)
			}
			if c.created != 1 {
				t.Errorf("%d Jobs were made", c.created)
			}
		})
	}
}

func TestEqualBuildsAtOnceAreOne(t *testing.T) {
	c := newCluster()
	const callers = 20
	errs := make(chan error, callers)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			_, _, err := call(t, c, &shows{}, ci, files)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if c.created != 1 || len(c.configMaps) != 1 {
		t.Errorf("%d Jobs, %d ConfigMaps", c.created, len(c.configMaps))
	}
}

func TestOnlyWhatTheRegistryShowsHasSucceeded(t *testing.T) {
	for name, tc := range map[string]struct {
		registry *shows
		written  string
		message  string
	}{
		"no such tag":         {&shows{}, pushed, "image not found"},
		"an older image":      {&shows{digest: older}, pushed, "shows " + older},
		"nothing was written": {&shows{digest: older}, "", "without saying"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.log = "#9 ERROR: failed to push\n"
			is(t, c, tc.registry, files, http.StatusAccepted, image.Pending)
			c.ends(batchv1.JobComplete, "", tc.written)
			got := is(t, c, tc.registry, files, http.StatusOK, image.Failed)
			if !strings.Contains(got.Message, tc.message) || got.Log != c.log || got.Digest != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
	c := newCluster()
	is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	c.ends(batchv1.JobComplete, "", pushed)
	said := fault.New(fault.BadUpstream, "the registry answered 500")
	if _, _, err := call(t, c, &shows{err: said}, ci, files); fault.From(err) != said {
		t.Errorf("a registry that does not answer is no failed build: %v", err)
	}
}

func TestFailedBuildGivesItsLog(t *testing.T) {
	c := newCluster()
	is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	c.ends(batchv1.JobFailed, "BackoffLimitExceeded", "")
	c.log = strings.Repeat("x", limits.BuildLogBytes) + "\n#7 0.2 TOKEN=hunter2 \xff\n#7 ERROR: exit code: 3\n"
	got := is(t, c, &shows{digest: older}, files, http.StatusOK, image.Failed)
	if want := "#7 0.2 TOKEN=*** �\n#7 ERROR: exit code: 3\n"; got.Log != want {
		t.Errorf("log %q, want %q", got.Log, want)
	}
	c.refuse["LogTail"] = fault.New(fault.Unavailable, "the node does not answer")
	got = is(t, c, &shows{}, files, http.StatusOK, image.Failed)
	if got.Log != "" || !strings.Contains(got.Message, "the node does not answer") {
		t.Errorf("a log that cannot be read: %+v", got)
	}
}

func TestDeadlineIsFinal(t *testing.T) {
	c := newCluster()
	is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	c.ends(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded, "")
	for range 2 {
		is(t, c, &shows{digest: pushed}, files, http.StatusOK, image.TimedOut)
	}
}

func TestHalfMadeBuildIsRepaired(t *testing.T) {
	away := fault.New(fault.Unavailable, "the cluster is away")
	for _, broken := range []string{"CreateConfigMap", "ResumeJob"} {
		c := newCluster()
		c.refuse[broken] = away
		if _, _, err := call(t, c, &shows{}, ci, files); !errors.Is(err, away) {
			t.Fatalf("%s: %v", broken, err)
		}
		delete(c.refuse, broken)
		got := is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
		if job := c.jobs[got.Build]; *job.Spec.Suspend || c.created != 1 || c.configMaps[got.Build] == nil {
			t.Errorf("%s: not repaired: %+v", broken, job)
		}
	}
}

func TestWhatIsLeftOfAFormerBuild(t *testing.T) {
	removed := metav1.Now()
	leaves := func(t *testing.T, c *cluster) {
		t.Helper()
		_, _, err := call(t, c, &shows{}, ci, files)
		if f := fault.From(err); f.Kind != fault.Unavailable || f.RetryAfter == 0 {
			t.Errorf("got %v, want 503 with a time", err)
		}
	}
	t.Run("its Job", func(t *testing.T) {
		c := newCluster()
		name := is(t, c, &shows{}, files, http.StatusAccepted, image.Pending).Build
		c.jobs[name].DeletionTimestamp = &removed
		leaves(t, c)
		delete(c.jobs, name)
		delete(c.configMaps, name)
		is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	})
	t.Run("its Job, while it is resumed", func(t *testing.T) {
		for _, kind := range []fault.Kind{fault.NotFound, fault.Invalid} {
			c := newCluster()
			c.refuse["ResumeJob"] = fault.New(kind, "metadata.uid: field is immutable")
			leaves(t, c)
		}
	})
	t.Run("its files", func(t *testing.T) {
		c := newCluster()
		name := is(t, c, &shows{}, files, http.StatusAccepted, image.Pending).Build
		delete(c.jobs, name)
		leaves(t, c)
		if !*c.jobs[name].Spec.Suspend {
			t.Error("the Job runs with files that are about to go")
		}
		delete(c.configMaps, name)
		is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	})
	t.Run("somebody else's Job", func(t *testing.T) {
		c := newCluster()
		name := is(t, c, &shows{}, files, http.StatusAccepted, image.Pending).Build
		c.jobs[name].Annotations = nil
		if _, _, err := call(t, c, &shows{}, ci, files); fault.KindOf(err) != fault.Conflict {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a quota", func(t *testing.T) {
		c := newCluster()
		c.refuse["CreateJob"] = fault.New(fault.Conflict, "the cluster forbids job x: exceeded quota")
		if _, _, err := call(t, c, &shows{}, ci, files); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "quota") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	sha := `"sha":"1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c1f3c"`
	for body, paths := range map[string]string{
		`{"ref":"docker.io/x","files":{"a/b":""},"buildArgs":{"BUILDKIT_SYNTAX":"x"}}`:                  `buildArgs.BUILDKIT_SYNTAX files.Dockerfile files["a/b"] ref`,
		`{"ref":"reg.lab:5000/acme/x","git":{"url":"https://evil/x.git","sha":"main"}}`:                 `git.sha git.url`,
		`{"ref":"reg.lab:5000/acme/x","git":{"url":"https://git.lab@evil/x.git",` + sha + `}}`:          `git.url`,
		`{"ref":"reg.lab:5000/acme/x","git":{"url":"https://git.lab/x.git",` + sha + `,"path":"../y"}}`: `git.path`,
		`{"ref":"reg.lab:5000/acme/x","git":{"url":"https://git.lab/x.git",` + sha + `,"ref":"main"}}`:  `git.ref`,
		`{"ref":"reg.lab:5000/acme/x","files":{"Dockerfile":""},"secrets":[]}`:                          `secrets`,
		`{"ref":"reg.lab:5000/acme/x"}`: ``,
	} {
		c := newCluster()
		_, _, err := call(t, c, &shows{}, ci, body)
		var got []string
		for _, p := range fault.From(err).Problems {
			got = append(got, p.Path)
		}
		if fault.KindOf(err) != fault.Invalid || strings.Join(got, " ") != paths {
			t.Errorf("%s: %s %q, want 422 at %q", body, fault.KindOf(err), got, paths)
		}
		if len(c.jobs)+len(c.configMaps) != 0 {
			t.Errorf("%s: something was made", body)
		}
		if checked := New(c, &shows{}, settings).Check(json.RawMessage(body)); fault.KindOf(checked) != fault.Invalid {
			t.Errorf("%s: checked without the cluster it is %v", body, checked)
		}
	}
}

func TestRepositoriesOfTheCaller(t *testing.T) {
	for repository, allowed := range map[string]bool{"reg.lab:5000/acme": true, "reg.lab:5000/acm": false, "reg.lab:5000/acme/pump/x": false, "acme": false} {
		c := newCluster()
		_, _, err := call(t, c, &shows{}, function.Caller{Name: "ci", Repositories: []string{repository}}, files)
		if allowed != (err == nil) || !allowed && fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", repository, err)
		}
		if (len(c.jobs) == 1) != allowed {
			t.Errorf("%s: %d Jobs", repository, len(c.jobs))
		}
	}
	if _, _, err := call(t, newCluster(), &shows{}, function.Caller{Name: "hook:acme/train", Everything: true}, files); err != nil {
		t.Errorf("a hook: %v", err)
	}
}

func TestPodsOfOthersAreNotThisBuilds(t *testing.T) {
	c := newCluster()
	is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
	c.pods = append(c.pods, corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{batchv1.ControllerUidLabel: "another"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	})
	is(t, c, &shows{}, files, http.StatusAccepted, image.Pending)
}
