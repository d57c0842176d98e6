//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// acme is where the token of the overlay's config may push to.
const acme = registry + "/acme"

type build struct {
	Build, Ref, Phase, Digest, Log, Message string
}

// build calls build-image, and deletes its Job at the end.
func (s *site) build(request map[string]any) build {
	s.Helper()
	a := s.call("demo-token", "build-image", request)
	if a.code != http.StatusOK && a.code != http.StatusAccepted {
		s.Fatalf("build-image answered %d: %s", a.code, a.body)
	}
	var got build
	a.decode(s.T, &got)
	if ended := got.Phase != "Pending" && got.Phase != "Building"; ended != (a.code == http.StatusOK) {
		s.Errorf("phase %s with code %d", got.Phase, a.code)
	}
	return got
}

func (s *site) deleteBuildAtEnd(name string) {
	s.Cleanup(func() {
		now := metav1.DeletePropagationForeground
		err := s.kube.BatchV1().Jobs(namespace).Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &now})
		if err != nil && !apierrors.IsNotFound(err) {
			s.Errorf("delete %s: %v", name, err)
		}
	})
}

// ended asks until the build has ended.
func (s *site) ended(request map[string]any) build {
	s.Helper()
	first := s.build(request)
	s.deleteBuildAtEnd(first.Build)
	var got build
	s.eventually("build "+first.Build+" has ended", func() error {
		got = s.build(request)
		if got.Build != first.Build {
			s.Fatalf("the same request is another build: %s and %s", first.Build, got.Build)
		}
		if got.Phase == "Pending" || got.Phase == "Building" {
			return errors.New("it is " + got.Phase + " " + got.Message)
		}
		return nil
	})
	return got
}

type present struct {
	Ref    string
	Exists bool
	Digest string
}

func (s *site) hasImage(ref string) present {
	s.Helper()
	a := s.call("demo-token", "has-image", map[string]any{"ref": ref})
	if a.code != http.StatusOK {
		s.Fatalf("has-image answered %d: %s", a.code, a.body)
	}
	var got present
	a.decode(s.T, &got)
	return got
}

// dockerfile makes a request to build a tag that no other test uses. What it
// says is in an image of its own, so that nothing comes from BuildKit's cache.
func dockerfile(t *testing.T, steps string) map[string]any {
	return map[string]any{
		"ref": acme + "/" + unique(t) + ":v1",
		"files": map[string]any{
			"Dockerfile": "FROM " + busybox + "\n" + steps,
			"said.txt":   "said by " + unique(t),
			"bytes.bin":  map[string]any{"base64": "/wAB"},
		},
	}
}

func TestBuildPushesWhatRuns(t *testing.T) {
	s := newSite(t)
	request := dockerfile(t, "ARG SAID\nCOPY . /ctx/\nRUN printf '%s' \"$SAID\" > /arg.txt\n")
	const said = `a $(HOME) $$ {{x}} "q", 'r' ü`
	request["buildArgs"] = map[string]any{"SAID": said}
	ref := request["ref"].(string)
	if got := s.hasImage(ref); got.Exists || got.Digest != "" {
		t.Fatalf("before the build the registry has %+v", got)
	}
	built := s.ended(request)
	if built.Phase != "Succeeded" || built.Ref != ref || !strings.HasPrefix(built.Digest, "sha256:") {
		t.Fatalf("got %+v", built)
	}
	if got := s.hasImage(ref); !got.Exists || got.Digest != built.Digest {
		t.Errorf("after the build the registry has %+v, want %s", got, built.Digest)
	}
	if got := s.hasImage(strings.TrimSuffix(ref, ":v1") + "@" + built.Digest); !got.Exists {
		t.Errorf("by its digest: %+v", got)
	}
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("read", `ls -A /ctx; cat /ctx/said.txt /arg.txt; busybox od -An -tx1 /ctx/bytes.bin; echo '`+end+`'`, map[string]any{"image": ref}),
	}})
	s.waitPhase(run, "Succeeded")
	file := request["files"].(map[string]any)["said.txt"].(string)
	if got, want := s.log(run, "read"), "Dockerfile\nbytes.bin\nsaid.txt\n"+file+said+" ff 00 01\n"; got != want {
		t.Errorf("the image holds %q, want %q", got, want)
	}
}

func TestBuildThatFailsGivesItsLog(t *testing.T) {
	s := newSite(t)
	request := dockerfile(t, "ARG TOKEN\nCOPY said.txt /\nRUN cat /said.txt; echo \"token $TOKEN\"; exit 3\n")
	request["buildArgs"] = map[string]any{"TOKEN": "harbour-lamp-42"}
	got := s.ended(request)
	if got.Phase != "Failed" || got.Digest != "" {
		t.Fatalf("got %+v", got)
	}
	for _, want := range []string{request["files"].(map[string]any)["said.txt"].(string), "exit code: 3"} {
		if !strings.Contains(got.Log, want) {
			t.Errorf("the log lacks %q: %s", want, got.Log)
		}
	}
	if strings.Contains(got.Log, "harbour-lamp-42") {
		t.Errorf("the log shows a build argument: %s", got.Log)
	}
	if has := s.hasImage(request["ref"].(string)); has.Exists {
		t.Errorf("a failed build pushed %+v", has)
	}
}

func TestBuildRunsIntoItsLimit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	request := dockerfile(t, "COPY said.txt /\nRUN sleep 600\n")
	start := time.Now()
	if got := s.ended(request); got.Phase != "TimedOut" {
		t.Fatalf("got %+v", got)
	}
	if took := time.Since(start); took < time.Minute {
		t.Errorf("it ended after %s, before the config's limit of 1m", took)
	}
	if got := s.build(request); got.Phase != "TimedOut" {
		t.Errorf("the end was not final: %+v", got)
	}
}

func TestEqualBuildsAtOnceAreOne(t *testing.T) {
	s := newSite(t)
	request := dockerfile(t, "COPY said.txt /\nRUN sleep 1\n")
	const copies = 10
	answers := make(chan answer, copies)
	for range copies {
		go func() { answers <- s.call("demo-token", "build-image", request) }()
	}
	names := map[string]bool{}
	for range copies {
		a := <-answers
		if a.code != http.StatusAccepted && a.code != http.StatusOK {
			t.Errorf("a copy was answered %d: %s", a.code, a.body)
			continue
		}
		var got build
		a.decode(t, &got)
		names[got.Build] = true
	}
	if len(names) != 1 {
		t.Fatalf("%d copies are the builds %v", copies, names)
	}
	if got := s.ended(request); got.Phase != "Succeeded" {
		t.Fatalf("got %+v", got)
	}
	jobs, err := s.kube.BatchV1().Jobs(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, job := range jobs.Items {
		if job.Annotations["runhook/image"] == request["ref"] {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d Jobs build the image", count)
	}
}

func TestFilesOfABuildGoWithItsJob(t *testing.T) {
	s := newSite(t)
	name := s.ended(dockerfile(t, "COPY said.txt /\n")).Build
	if _, err := s.kube.CoreV1().ConfigMaps(namespace).Get(context.Background(), name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	job, err := s.kube.BatchV1().Jobs(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if job.Spec.TTLSecondsAfterFinished == nil {
		t.Error("the Job stays for ever")
	}
	behind := metav1.DeletePropagationBackground
	if err := s.kube.BatchV1().Jobs(namespace).Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &behind}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the files of "+name+" are gone", func() error {
		_, err := s.kube.CoreV1().ConfigMaps(namespace).Get(context.Background(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("still there"), err)
	})
}

func TestBuildsRefusedMakeNothing(t *testing.T) {
	s := newSite(t)
	good := func() map[string]any { return dockerfile(t, "COPY said.txt /\n") }
	sha := strings.Repeat("1f3c", 10)
	git := func(url, sha, path string) map[string]any {
		return map[string]any{"ref": acme + "/x:1", "git": map[string]any{"url": url, "sha": sha, "path": path}}
	}
	with := func(key string, value any) map[string]any {
		request := good()
		request[key] = value
		return request
	}
	for name, tc := range map[string]struct {
		request map[string]any
		code    int
		path    string
	}{
		"another's repository": {with("ref", registry+"/other/x:1"), http.StatusForbidden, ""},
		"half a segment":       {with("ref", registry+"/acme-2/x:1"), http.StatusForbidden, ""},
		"another registry":     {with("ref", "docker.io/acme/x:1"), http.StatusUnprocessableEntity, "ref"},
		"a digest":             {with("ref", acme+"/x@sha256:"+strings.Repeat("0", 64)), http.StatusUnprocessableEntity, "ref"},
		"a folder":             {with("files", map[string]any{"Dockerfile": "", "a/b": ""}), http.StatusUnprocessableEntity, `files[\"a/b\"]`},
		"BUILDKIT_":            {with("buildArgs", map[string]any{"BUILDKIT_SYNTAX": "x"}), http.StatusUnprocessableEntity, "buildArgs.BUILDKIT_SYNTAX"},
		"a Git host":           {git("https://169.254.169.254/x.git", sha, ""), http.StatusUnprocessableEntity, "git.url"},
		"a branch":             {git("https://git.lab/x.git", "main", ""), http.StatusUnprocessableEntity, "git.sha"},
		"upwards":              {git("https://git.lab/x.git", sha, "../x"), http.StatusUnprocessableEntity, "git.path"},
		"an unknown key":       {with("platforms", "all"), http.StatusUnprocessableEntity, "platforms"},
	} {
		before := s.jobs()
		a := s.call("demo-token", "build-image", tc.request)
		if a.code != tc.code || !bytes.Contains(a.body, []byte(tc.path)) {
			t.Errorf("%s: %d %s, want %d at %s", name, a.code, a.body, tc.code, tc.path)
		}
		if after := s.jobs(); after != before {
			t.Errorf("%s: the Jobs were %s and are %s", name, before, after)
		}
	}
	if a := s.call("reader-token", "build-image", good()); a.code != http.StatusForbidden {
		t.Errorf("a caller without the function: %d %s", a.code, a.body)
	}
	for _, ref := range []string{"docker.io/acme/x", "x", registry + "/acme/../x", ""} {
		if a := s.call("demo-token", "has-image", map[string]any{"ref": ref}); a.code != http.StatusUnprocessableEntity {
			t.Errorf("has-image of %q: %d %s", ref, a.code, a.body)
		}
	}
}

// jobs lists the Jobs of the runs' namespace.
func (s *site) jobs() string {
	s.Helper()
	list, err := s.kube.BatchV1().Jobs(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, job := range list.Items {
		names = append(names, job.Name)
	}
	return fmt.Sprint(names)
}
