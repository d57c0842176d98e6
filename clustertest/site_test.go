//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// Where `make deploy` puts things, and what the local overlay names.
const (
	root      = ".."
	namespace = "runs"
	registry  = "10.88.0.1:5000"
	busybox   = registry + "/busybox:1"
	// patience bounds every wait for the cluster: a pod takes 5 s here, and
	// 30 s on a machine that is busy with something else.
	patience = 3 * time.Minute
)

// site is the deployed runhook with clients that see the cluster as it is.
type site struct {
	*testing.T
	url, metricsURL string
	config          *rest.Config
	kube            kubernetes.Interface
	argo            versioned.Interface
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, url: env(t, "RUNHOOK_URL"), metricsURL: env(t, "RUNHOOK_METRICS") + "/metrics"}
	var err error
	if s.config, err = clientcmd.BuildConfigFromFlags("", env(t, "KUBECONFIG")); err != nil {
		t.Fatal(err)
	}
	s.config.QPS = -1
	if s.kube, err = kubernetes.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	if s.argo, err = versioned.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	return s
}

func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run `make cluster-test`, or eval \"$(bin/localcluster env)\" first", name)
	}
	return value
}

// secret reads what `make deploy` has drawn.
func (s *site) secret(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(root, "bin/deploy", name))
	if err != nil {
		s.Fatalf("runhook is not deployed (run `make deploy`): %v", err)
	}
	return string(text)
}

// answer is what an HTTP request gave.
type answer struct {
	code   int
	header http.Header
	body   []byte
	again  bool // the request was sent more than once
}

func (a answer) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("%d %s: %v", a.code, a.body, err)
	}
}

// do sends a request, and again for as long as it is asked to: on a machine that
// is busy with something else the cluster may be too slow for a function's time.
func (s *site) do(request *http.Request) answer {
	s.Helper()
	var got answer
	again := false
	s.eventually("the cluster answers in time", func() error {
		if got = s.send(request); got.code != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			return nil
		}
		again = true
		return fmt.Errorf("%d %s", got.code, got.body)
	})
	got.again = again
	return got
}

// send sends a request once.
func (s *site) send(request *http.Request) answer {
	s.Helper()
	if request.GetBody != nil {
		body, err := request.GetBody()
		must(s, err)
		request.Body = body
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{code: response.StatusCode, header: response.Header, body: body}
}

// call calls a function with a token of the overlay's config.
func (s *site) call(token, function string, body any) answer {
	s.Helper()
	return s.do(s.request(token, function, body))
}

func (s *site) request(token, function string, body any) *http.Request {
	s.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, s.url+"/functions/"+function, bytes.NewReader(encoded))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.secret(token))
	return request
}

// submit submits a run that the test deletes at its end, and gives its name.
func (s *site) submit(run map[string]any) string {
	s.Helper()
	return s.submitAs("demo-token", run)
}

// submitAs submits with a token. What is sent again may have been made before.
func (s *site) submitAs(token string, run map[string]any) string {
	s.Helper()
	got := s.call(token, "submit", run)
	if got.code != http.StatusCreated && !(got.again && got.code == http.StatusOK) {
		s.Fatalf("submit answered %d: %s", got.code, got.body)
	}
	var created struct {
		Run string `json:"run"`
	}
	got.decode(s.T, &created)
	s.deleteAtEnd(created.Run)
	return created.Run
}

func (s *site) deleteAtEnd(run string) {
	s.Cleanup(func() { s.delete(run) })
}

func (s *site) delete(run string) {
	now := metav1.DeletePropagationForeground
	err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Delete(context.Background(), run, metav1.DeleteOptions{PropagationPolicy: &now})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Errorf("delete %s: %v", run, err)
	}
	s.eventually("workflow "+run+" is gone", func() error {
		_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(context.Background(), run, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("still there"), err)
	})
}

// waitPhase waits until the Workflow itself, not runhook, says a phase.
func (s *site) waitPhase(run string, want string) {
	s.Helper()
	s.eventually("workflow "+run+" is "+want, func() error {
		workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(context.Background(), run, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := string(workflow.Status.Phase); got != want {
			return errors.New("it is " + got + ": " + workflow.Status.Message)
		}
		return nil
	})
}

// eventually asks again and again until a condition holds.
func (s *site) eventually(what string, condition func() error) {
	s.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("waited %s until %s: %v", patience, what, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// end ends what a test's program prints: the log ends with a newline anyway.
const end = "<end>"

// executorLine is what Argo's executor writes to the same log. The runtime keeps
// the order within stdout and within stderr only: it may come before our text.
var executorLine = regexp.MustCompile(`(?m)^(time="[^"]*" level=.*|Error: exit status \d+)\n`)

// programs leaves what the program has printed.
func programs(log string) string { return executorLine.ReplaceAllString(log, "") }

// log reads what the main container of a task's pod has printed up to the end.
func (s *site) log(run, task string) string {
	s.Helper()
	pods, err := s.kube.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{
		LabelSelector: "workflows.argoproj.io/workflow=" + run + ",runhook/task=" + task,
	})
	if err != nil {
		s.Fatal(err)
	}
	if len(pods.Items) != 1 {
		s.Fatalf("task %s of run %s has %d pods, want 1", task, run, len(pods.Items))
	}
	return s.podLog(pods.Items[0].Name)
}

func (s *site) podLog(pod string) string {
	s.Helper()
	log, err := s.kube.CoreV1().Pods(namespace).GetLogs(pod, podLogOptions).DoRaw(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	text, _, ended := strings.Cut(programs(string(log)), end)
	if !ended {
		s.Fatalf("the log of %s has no %s: %q", pod, end, log)
	}
	return text
}

func task(id string, script string, more ...map[string]any) map[string]any {
	t := map[string]any{"id": id, "image": busybox, "command": []string{"sh", "-c", script}}
	for _, m := range more {
		for k, v := range m {
			t[k] = v
		}
	}
	return t
}

// unique gives a name of a run that no other test uses.
func unique(t *testing.T) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "Test"), "/")
	return strings.ToLower(name[:min(20, len(name))]) + "-" + hooktest.RandomHex(4)
}
