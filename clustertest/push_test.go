//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

var podLogOptions = &corev1.PodLogOptions{Container: "main"}

// delivery makes the signed request that GitHub would send.
func (s *site) delivery(body []byte) *http.Request {
	s.Helper()
	request, err := hooktest.GitHubRequest(s.url+"/hooks/acme", body, []byte(s.secret("github-secret")))
	if err != nil {
		s.Fatal(err)
	}
	return request
}

func (s *site) signature(body []byte) string {
	return hooktest.GitHubSignature(body, []byte(s.secret("github-secret")))
}

// decision is one of a hook's decisions.
type decision struct {
	Route   string `json:"route"`
	Call    string `json:"call"`
	Ignored string `json:"ignored"`
	Run     string `json:"run"`
	Created bool   `json:"created"`
	Error   *struct {
		Code   int    `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
}

func (s *site) decisionOf(a answer) decision {
	s.Helper()
	var got struct {
		Decisions []decision `json:"decisions"`
	}
	a.decode(s.T, &got)
	if len(got.Decisions) != 1 {
		s.Fatalf("want one decision: %d %s", a.code, a.body)
	}
	return got.Decisions[0]
}

// start delivers a push that must start a run, and deletes that run at the end.
func (s *site) start(p hooktest.GitHubPush) string {
	s.Helper()
	got := s.do(s.delivery(p.Body()))
	if got.code != http.StatusAccepted {
		s.Fatalf("the hook answered %d: %s", got.code, got.body)
	}
	run := s.decisionOf(got).Run
	s.deleteAtEnd(run)
	return run
}

// runsOf counts the Workflows that a commit has led to.
func (s *site) runsOf(sha string) int {
	s.Helper()
	list, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	count := 0
	for _, w := range list.Items {
		if bytes.Contains([]byte(w.Annotations["runhook/source"]), []byte(sha)) {
			count++
		}
	}
	return count
}

func TestPushBecomesRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := hooktest.NewGitHubPush("Train the pump model")
	run := s.start(p)
	s.waitPhase(run, "Succeeded")
	var status struct {
		Phase string `json:"phase"`
		Tasks map[string]struct {
			Phase    string `json:"phase"`
			Done, Of int
		} `json:"tasks"`
	}
	s.call("demo-token", "status", map[string]any{"run": run}).decode(t, &status)
	if status.Phase != "Succeeded" || status.Tasks["fit"].Done != 3 || status.Tasks["fit"].Of != 3 {
		t.Errorf("status of a run that has succeeded: %+v", status)
	}
	for _, task := range []string{"fetch", "fit", "fit.fit-0", "fit.fit-1", "fit.fit-2", "fit.fit-merge", "report"} {
		if status.Tasks[task].Phase != "Succeeded" {
			t.Errorf("task %s is %q", task, status.Tasks[task].Phase)
		}
	}
}

func TestOneRunPerPush(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := hooktest.NewGitHubPush("once")
	body := p.Body()
	const copies = 20
	answers := make(chan answer, copies)
	for range copies {
		request := s.delivery(body)
		go func() { answers <- s.do(request) }()
	}
	runs, created, sentAgain := map[string]bool{}, 0, false
	for range copies {
		a := <-answers
		if a.code != http.StatusAccepted {
			t.Errorf("a copy was answered %d: %s", a.code, a.body)
			continue
		}
		d := s.decisionOf(a)
		runs[d.Run] = true
		if d.Created {
			created++
		}
		sentAgain = sentAgain || a.again
	}
	if sentAgain && created == 0 {
		created = 1 // by one whose first answer came too late
	}
	var run string
	for run = range runs {
		s.deleteAtEnd(run)
	}
	if len(runs) != 1 || created != 1 || s.runsOf(p.SHA) != 1 {
		t.Fatalf("%d copies: %d run ids, created %d times, %d Workflows; want one of each", copies, len(runs), created, s.runsOf(p.SHA))
	}
	s.waitPhase(run, "Succeeded")
	again := s.do(s.delivery(body))
	if d := s.decisionOf(again); again.code != http.StatusAccepted || d.Run != run || d.Created {
		t.Errorf("redelivery after the end: %d %+v, want %s and created: false", again.code, d, run)
	}
	if n := s.runsOf(p.SHA); n != 1 {
		t.Errorf("redelivery after the end left %d Workflows", n)
	}
}

func TestNameTakenBySomethingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := hooktest.NewGitHubPush("taken")
	run := s.start(p)
	s.delete(run)
	foreign := &wfv1.Workflow{
		ObjectMeta: metav1.ObjectMeta{Name: run},
		Spec: wfv1.WorkflowSpec{Entrypoint: "wait", Templates: []wfv1.Template{{
			Name: "wait", Suspend: &wfv1.SuspendTemplate{},
		}}},
	}
	if _, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Create(context.Background(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := s.do(s.delivery(p.Body()))
	if d := s.decisionOf(got); got.code != http.StatusConflict || d.Error == nil || d.Error.Code != http.StatusConflict {
		t.Errorf("got %d %s, want 409", got.code, got.body)
	}
	workflow, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(context.Background(), run, metav1.GetOptions{})
	if err != nil || workflow.Spec.Entrypoint != "wait" {
		t.Errorf("the foreign Workflow was touched: %v", err)
	}
}
