//go:build cluster

package clustertest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/status"
)

// TestPushIsBuiltFirst pushes a commit whose run has its image built from the
// repository, and pushes it again when the registry has the image.
func TestPushIsBuiltFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	said := unique(t)
	sha := s.gitServer(map[string]string{"Dockerfile": "FROM " + busybox + "\nCOPY said.txt /\n", "said.txt": said})
	push := hooktest.NewGitHubPush("build me")
	push.SHA = sha
	deliver := func() (run string) {
		request, err := hooktest.GitHubRequest(s.url+"/hooks/image", push.Body(), []byte(s.secret("github-secret")))
		must(s, err)
		got := s.do(request)
		if got.code != http.StatusAccepted {
			t.Fatalf("the hook answered %d: %s", got.code, got.body)
		}
		run = s.decisionOf(got).Run
		s.deleteAtEnd(run)
		return run
	}
	ref := acme + "/pump-models:" + sha
	if s.hasImage(ref).Exists {
		t.Fatal("the registry has the image before anybody built it")
	}
	run := deliver()
	s.waitPhase(run, "Succeeded")
	s.wantBuildEvents(run, "pending", "building", "succeeded")
	if got := s.log(run, "read"); got != said {
		t.Errorf("the task finds %q in its image, want %q", got, said)
	}
	if got := s.status(run).Tasks["build"].Phase; got != status.Succeeded {
		t.Errorf("the build is %q", got)
	}
	if !s.hasImage(ref).Exists {
		t.Error("the registry has no image after the build")
	}

	s.delete(run)
	again := deliver()
	s.waitPhase(again, "Succeeded")
	if _, built := s.status(again).Tasks["build"]; built {
		t.Error("an image that the registry has was built again")
	}
	if got := s.log(again, "read"); got != said {
		t.Errorf("the task finds %q in its image, want %q", got, said)
	}
}

// gitServer serves a repository of one commit as the overlay's config names
// it, over plain HTTP, and gives the commit. A repository that is never pushed
// to is served as files ("dumb HTTP").
func (s *site) gitServer(files map[string]string) string {
	s.Helper()
	s.alone("git")
	archive, sha := s.repository(files)
	meta := metav1.ObjectMeta{Name: "git", Labels: map[string]string{"app": "git"}}
	s.removeGitServer() // of a test that was ended from outside
	s.Cleanup(s.removeGitServer)

	core := s.kube.CoreV1()
	_, err := core.ConfigMaps(namespace).Create(s.Context(), &corev1.ConfigMap{ObjectMeta: meta, BinaryData: map[string][]byte{"repository.tar": archive}}, metav1.CreateOptions{})
	must(s, err)
	_, err = core.Services(namespace).Create(s.Context(), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: meta.Labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
	}}, metav1.CreateOptions{})
	must(s, err)
	const served = "mkdir /tmp/www && busybox tar -x -f /git/repository.tar -C /tmp/www && exec busybox httpd -f -p 8080 -h /tmp/www"
	_, err = core.Pods(namespace).Create(s.Context(), &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		AutomountServiceAccountToken:  new(false),
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{
			Name: "httpd", Image: busybox, Command: []string{"sh", "-c", served},
			VolumeMounts:   []corev1.VolumeMount{{Name: "git", MountPath: "/git"}},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/pump-models.git/HEAD", Port: intstr.FromInt32(8080)}}},
		}},
		Volumes: []corev1.Volume{{Name: "git", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: meta.Name}}}}},
	}}, metav1.CreateOptions{})
	must(s, err)
	s.eventually("the Git server serves", func() error {
		pod, err := core.Pods(namespace).Get(s.Context(), meta.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("it is %s: %v", pod.Status.Phase, pod.Status.ContainerStatuses)
	})
	return sha
}

func (s *site) removeGitServer() {
	s.Helper()
	core, ctx := s.kube.CoreV1(), context.Background()
	for what, remove := range map[string]func(context.Context, string, metav1.DeleteOptions) error{
		"pod": core.Pods(namespace).Delete, "Service": core.Services(namespace).Delete, "ConfigMap": core.ConfigMaps(namespace).Delete,
	} {
		if err := remove(ctx, "git", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.Errorf("delete the Git server's %s: %v", what, err)
		}
	}
	s.eventually("the Git server is gone", func() error {
		if _, err := core.Pods(namespace).Get(ctx, "git", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there: %w", err)
		}
		return nil
	})
}

// repository commits files, and gives the bare repository as an archive.
func (s *site) repository(files map[string]string) (archive []byte, sha string) {
	s.Helper()
	work, served := s.TempDir(), s.TempDir()
	git := func(args ...string) string {
		command := exec.Command("git", append([]string{"-C", work, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			s.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "--template=", "--initial-branch=main")
	for name, text := range files {
		must(s, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
	}
	git("add", ".")
	git("commit", "-q", "-m", "build me")
	bare := filepath.Join(served, "pump-models.git")
	git("clone", "-q", "--bare", "--template=", ".", bare)
	git("-C", bare, "update-server-info")

	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	must(s, w.AddFS(os.DirFS(served)))
	must(s, w.Close())
	return buffer.Bytes(), git("rev-parse", "HEAD")
}
