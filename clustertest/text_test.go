//go:build cluster

package clustertest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// hostile is text that Argo, Kubernetes or a shell would change if it met it live.
var hostile = []string{
	`"double" 'single' ` + "`back`",
	"first line\nsecond line\r\nthird",
	"{{workflow.name}} {{inputs.parameters.x}} {{=1+1}}",
	"{{{ }}} {{ {{{{a}}}} {",
	"$(id) $$ $$(id) $(RUNHOOK_BRACE) $(RUNHOOK_RUN) ${HOME} $",
	"emoji 🚀, accents é, \u202eright to left, \u0001 control",
	"trailing blanks  \t ",
	`back\slash \n \u0041`,
}

// say prints a variable in base64: the container runtime takes the carriage
// return from the end of a log's line.
const say = `printf %%s "%s" | busybox base64 -w 0; echo '<end>'`

// said gives what a task has said.
func (s *site) said(run, task string) string {
	s.Helper()
	text, err := base64.StdEncoding.DecodeString(s.log(run, task))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

func TestTextArrivesByteForByte(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	params, tasks := map[string]string{}, []any{}
	for i, text := range hostile {
		params[fmt.Sprintf("m%d", i)] = text
		tasks = append(tasks, task(fmt.Sprintf("say-%d", i), fmt.Sprintf(say, fmt.Sprintf("$RUNHOOK_PARAM_M%d", i))))
	}
	// The same text where else free text may stand: env, command and args.
	all := strings.Join(hostile, "|")
	tasks = append(tasks,
		task("env", fmt.Sprintf(say, "$TEXT"), map[string]any{"env": map[string]any{"TEXT": all}}),
		task("args", "", map[string]any{"command": []string{"sh", "-c", fmt.Sprintf(say, "$0"), all}}),
	)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "params": params, "tasks": tasks})
	s.waitPhase(run, "Succeeded")
	for i, want := range hostile {
		if got := s.said(run, fmt.Sprintf("say-%d", i)); got != want {
			t.Errorf("message %d arrived as %q, want %q", i, got, want)
		}
	}
	for _, task := range []string{"env", "args"} {
		if got := s.said(run, task); got != all {
			t.Errorf("%s arrived as %q, want %q", task, got, all)
		}
	}
}

func TestCommitMessageArrivesByteForByte(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	message := strings.Join(hostile, "\n") + "\n"
	message += strings.Repeat("0123456789abcde\n", (100<<10-len(message))/16+1)
	message = message[:100<<10]
	run := s.start(hooktest.NewGitHubPush(message))
	s.waitPhase(run, "Succeeded")
	want := fmt.Sprintf("%x of %d bytes", sha256.Sum256([]byte(message)), len(message))
	if got := s.log(run, "report"); !strings.Contains(got, want) {
		t.Errorf("the message arrived as another: want %s in the log, whose end is %q", want, got[max(0, len(got)-200):])
	}
}

func TestTooLongCommitMessageIsRefused(t *testing.T) {
	s := newSite(t)
	p := hooktest.NewGitHubPush(strings.Repeat("x", 130<<10))
	got := s.do(s.delivery(p.Body()))
	d := s.decisionOf(got)
	if got.code != http.StatusUnprocessableEntity || d.Error == nil || !strings.Contains(d.Error.Detail, "params.message") {
		t.Errorf("got %d %s; want 422 that names params.message", got.code, got.body)
	}
	if n := s.runsOf(p.SHA); n != 0 {
		t.Errorf("%d Workflows were created", n)
	}
}
