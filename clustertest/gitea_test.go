//go:build cluster

package clustertest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/commitstatus"
	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/status"
)

// What localcluster's Gitea and the overlay's config call things.
const (
	giteaHost    = "10.88.0.1:3000"
	giteaOwner   = "acme"
	giteaRepo    = "pump-models"
	giteaContext = "runhook/gitea/train"
	giteaHook    = "http://runhook.runhook-system.svc.cluster.local:8080/hooks/gitea"
)

// gitHost is the real Gitea, with a repository whose pushes go to runhook.
type gitHost struct {
	*site
	url, token string
	client     *gitea.Client
}

func newGitHost(t *testing.T) *gitHost {
	t.Helper()
	g := &gitHost{site: newSite(t), url: env(t, "RUNHOOK_GITEA")}
	g.alone("gitea") // its repository has one hook
	token, err := os.ReadFile(filepath.Join(env(t, "RUNHOOK_CLUSTER_STATE"), "gitea/token"))
	if err != nil {
		t.Fatalf("there is no Gitea (run `make cluster-test`, or bin/localcluster up --with gitea and `make deploy`): %v", err)
	}
	g.token = string(token)
	g.client, err = gitea.NewClient(g.url, gitea.SetToken(g.token))
	must(g.site, err)
	_, answer, err := g.client.CreateRepo(gitea.CreateRepoOption{Name: giteaRepo})
	if answer == nil || answer.StatusCode != http.StatusConflict { // of an earlier test
		must(g.site, err)
	}
	g.hook()
	return g
}

// hook makes the repository's one hook, with the secret that is deployed now.
func (g *gitHost) hook() {
	g.Helper()
	hooks, _, err := g.client.ListRepoHooks(giteaOwner, giteaRepo, gitea.ListHooksOptions{})
	must(g.site, err)
	for _, old := range hooks {
		_, err := g.client.DeleteRepoHook(giteaOwner, giteaRepo, old.ID)
		must(g.site, err)
	}
	_, _, err = g.client.CreateRepoHook(giteaOwner, giteaRepo, gitea.CreateHookOption{
		Type: gitea.HookTypeGitea, Active: true, Events: []string{"push"},
		Config: map[string]string{"url": giteaHook, "content_type": "json", "secret": g.secret("gitea-secret")},
	})
	must(g.site, err)
}

// redelivery is when a push that led to nothing is made again: Gitea sends a
// delivery once, and the hook answers 503 while another test has the API server away.
const redelivery = 20 * time.Second

// push pushes a new commit as anybody would, until it has led to the run that it
// must lead to, by its name.
func (g *gitHost) push(branch string) (sha, name string) {
	g.Helper()
	git := g.repository(branch)
	git("push", "-q", "origin", "HEAD:refs/heads/"+branch)
	sha = git("rev-parse", "HEAD")
	repo, ref := giteaOwner+"/"+giteaRepo, "refs/heads/"+branch
	name = run.PushName(repo, sha, run.Hash("push", "gitea/train", giteaHost, repo, ref, sha))
	g.deleteAtEnd(name)
	pushed := time.Now()
	g.eventually("the push led to "+name, func() error {
		_, err := g.argo.ArgoprojV1alpha1().Workflows(namespace).Get(g.Context(), name, metav1.GetOptions{})
		if err != nil && time.Since(pushed) > redelivery {
			git("push", "-q", "--delete", "origin", ref)
			git("push", "-q", "origin", "HEAD:"+ref)
			pushed = time.Now()
		}
		return err
	})
	return sha, name
}

// repository makes a repository of one commit, whose origin is Gitea's.
func (g *gitHost) repository(message string) (git func(args ...string) string) {
	g.Helper()
	work := g.TempDir()
	address, err := url.Parse(g.url)
	must(g.site, err)
	address.User = url.UserPassword(giteaOwner, g.token)
	git = func(args ...string) string {
		command := exec.Command("git", append([]string{"-C", work, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
		out, err := command.CombinedOutput()
		if err != nil {
			g.Fatalf("git %s: %v: %s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "--template=", "--initial-branch=main")
	git("commit", "-q", "--allow-empty", "-m", message)
	git("remote", "add", "origin", address.JoinPath(giteaOwner, giteaRepo+".git").String())
	return git
}

// statuses lists what the commit was given, oldest first, as state: description.
func (g *gitHost) statuses(sha string) []string {
	g.Helper()
	list, _, err := g.client.ListStatuses(giteaOwner, giteaRepo, sha, gitea.ListStatusesOption{})
	must(g.site, err)
	slices.SortFunc(list, func(a, b *gitea.Status) int { return int(a.ID - b.ID) })
	var all []string
	for _, s := range list {
		if s.Context != giteaContext {
			g.Errorf("a status has the context %q", s.Context)
		}
		all = append(all, string(s.State)+": "+s.Description)
	}
	return all
}

// shows waits until the commit's combined state is one, and gives its description.
func (g *gitHost) shows(sha string, state gitea.StatusState) string {
	g.Helper()
	var words string
	g.eventually(fmt.Sprintf("Gitea shows %s at %s", state, sha), func() error {
		combined, _, err := g.client.GetCombinedStatus(giteaOwner, giteaRepo, sha)
		if err != nil {
			return err
		}
		if combined.State != state || len(combined.Statuses) != 1 {
			return fmt.Errorf("it shows %q: %v", combined.State, g.statuses(sha))
		}
		words = combined.Statuses[0].Description
		return nil
	})
	return words
}

// A push to a real Gitea becomes a run, and its commit turns green there, or red
// with the cause: first it is pending, and each change is shown once.
func TestACommitShowsItsRun(t *testing.T) {
	t.Parallel()
	g := newGitHost(t)
	for _, tc := range []struct {
		branch, phase string
		state         gitea.StatusState
		words         func(string) bool
	}{
		{"fine/", "Succeeded", gitea.StatusSuccess, func(words string) bool { return strings.HasPrefix(words, "Succeeded in ") }},
		{"broken/", "Failed", gitea.StatusFailure, func(words string) bool { return words == "Failed: fit ended with exit code 7" }},
	} {
		sha, name := g.push(tc.branch + unique(t))
		if words := g.shows(sha, gitea.StatusPending); !strings.HasPrefix(words, "Pending") && words != "Running" {
			t.Errorf("a run that goes on is shown as %q", words)
		}
		// The run's program waits for this.
		_, _, err := g.client.CreateTag(giteaOwner, giteaRepo, gitea.CreateTagOption{TagName: "go-" + sha, Target: sha})
		must(g.site, err)
		g.waitPhase(name, tc.phase)
		if words := g.shows(sha, tc.state); !tc.words(words) {
			t.Errorf("the run's end is shown as %q", words)
		}
		all := g.statuses(sha)
		if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
			t.Errorf("a change is shown twice: %q", all)
		}
		for _, s := range all[:len(all)-1] {
			if !strings.HasPrefix(s, "pending: ") {
				t.Errorf("before its end the run was shown as %q", s)
			}
		}
	}
}

// What a sink says twice, as after a takeover, a real Gitea lists once; what it
// refuses is not tried again.
func TestGiteaListsAStatusOnce(t *testing.T) {
	t.Parallel()
	g := newGitHost(t)
	git := g.repository("Look at me")
	git("push", "-q", "origin", "HEAD:refs/tags/"+unique(t)) // the route takes no tags
	sha := git("rev-parse", "HEAD")
	address, err := url.Parse(g.url)
	must(g.site, err)
	post := func(token, sha, message string) error {
		receiver, err := commitstatus.New(config.Sink{
			Name: "again", Provider: "gitea", BaseURL: g.url, Key: secret.Of(token), Repositories: []string{giteaOwner + "/" + giteaRepo},
		}, func(run string) string { return "https://runhook.example/" + run })
		must(g.site, err)
		return receiver.Post(t.Context(), event.Event{Run: &event.Run{Run: "again", Phase: status.Stopped, Message: message, Source: &function.Origin{
			Route: "gitea/train", Host: address.Host, Repo: giteaOwner + "/" + giteaRepo, SHA: sha,
		}}})
	}
	for i, tc := range []struct {
		token, sha, message string
		want                error
	}{
		{g.token, sha, "once", nil},
		{g.token, sha, "once", sink.ErrSkipped},
		{g.token, sha, "twice", nil},
		{g.token, sha, "once", nil},
		{"0123456789012345678901234567890123456789", sha, "never", sink.ErrRefused},
		{g.token, "0123456789012345678901234567890123456789", "never", sink.ErrRefused},
	} {
		if err := post(tc.token, tc.sha, tc.message); !errors.Is(err, tc.want) || err != nil && strings.Contains(err.Error(), tc.token) {
			t.Errorf("status %d: %v, want %v", i, err, tc.want)
		}
	}
	if all, want := g.statuses(sha), []string{"error: Stopped: once", "error: Stopped: twice", "error: Stopped: once"}; !slices.Equal(all, want) {
		t.Errorf("Gitea lists %q, want %q", all, want)
	}
}
