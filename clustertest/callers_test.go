//go:build cluster

package clustertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/auth"
	"github.com/runhook/runhook/pkg/shutdown"
)

func TestCallersEndTheirOwnRunsOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	theirs := s.submit(holding(t, "research", "100m"))
	own := unique(t)
	s.submitAs("guest-token", map[string]any{"id": own, "queue": "research", "tasks": []any{task("hold", hold)}})
	s.runningPod(theirs, "hold")
	s.runningPod(own, "hold")
	for _, function := range endings {
		if got := s.call("guest-token", function, map[string]any{"run": theirs}); got.code != http.StatusNotFound {
			t.Errorf("%s of another's run: %d %s", function, got.code, got.body)
		}
	}
	var response shutdown.Response
	got := s.call("guest-token", "stop", map[string]any{"run": own})
	if got.decode(t, &response); got.code != http.StatusOK || !response.Changed {
		t.Errorf("stop of an own run: %d %s", got.code, got.body)
	}
	s.waitPhase(own, "Failed")
	// Argo sees a pod that runs some seconds later: Pending is no end either.
	if is := s.status(theirs); is.Phase.Ended() {
		t.Errorf("another's run is %s", is.Phase)
	}
	// The id of another's run is not to be had either.
	if got := s.call("guest-token", "submit", map[string]any{"id": theirs, "queue": "research", "tasks": []any{task("hold", hold)}}); got.code != http.StatusConflict {
		t.Errorf("submit with the id of another's run: %d %s", got.code, got.body)
	}
}

func TestWhatACallerMayNotAskFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := func(change map[string]any) map[string]any {
		asked := map[string]any{"id": unique(t), "queue": "research", "tasks": []any{task("a", "true")}}
		for key, value := range change {
			asked[key] = value
		}
		return asked
	}
	const sha = "0123456789012345678901234567890123456789"
	build := func(ref string) map[string]any {
		return map[string]any{"ref": ref, "git": map[string]any{"url": "https://git.lab/x.git", "sha": sha}}
	}
	for name, tc := range map[string]struct {
		function string
		request  map[string]any
		path     string
	}{
		"a pin":                            {"submit", run(map[string]any{"tasks": []any{task("a", "true", map[string]any{"nodes": []string{"node1"}})}}), "tasks[0].nodes"},
		"reserved nodes":                   {"submit", run(map[string]any{"reserved": true}), "reserved"},
		"a reservation":                    {"reserve", map[string]any{"node": "node1", "run": "a"}, ""},
		"a queue":                          {"submit", run(map[string]any{"queue": "scarce"}), "queue"},
		"a priority":                       {"submit", run(map[string]any{"priority": "high"}), "priority"},
		"a run that builds over another's": {"submit", run(map[string]any{"build": build(acme + "/x:1")}), "build.ref"},
		"a build over another's":           {"build-image", build(acme + "/x:1"), ""},
		"a build over a neighbour's":       {"build-image", build(registry + "/guest-2/x:1"), ""},
	} {
		got := s.call("guest-token", tc.function, tc.request)
		var p problem
		got.decode(t, &p)
		if got.code != http.StatusForbidden || p.Detail == "" {
			t.Errorf("%s: got %d %s", name, got.code, got.body)
		}
		if tc.path != "" && (len(p.Errors) != 1 || p.Errors[0].Path != tc.path) {
			t.Errorf("%s: want path %s alone: %s", name, tc.path, got.body)
		}
		if id, ok := tc.request["id"].(string); ok {
			s.wantNoRun(id)
		}
	}
}

// wantNoRun sees that a refused run was not created.
func (s *site) wantNoRun(id string) {
	s.Helper()
	list, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + id})
	must(s, err)
	if len(list.Items) > 0 {
		s.deleteAtEnd(id)
		s.Errorf("run %s was created", id)
	}
}

// TestRefusedBeforeTheBodyIsRead sends heads of requests only: who waits for
// the body gives no answer.
func TestRefusedBeforeTheBodyIsRead(t *testing.T) {
	s := newSite(t)
	head := func(function, token string) string {
		return fmt.Sprintf("POST /functions/%s HTTP/1.1\r\nHost: runhook\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 100000\r\n\r\n", function, token)
	}
	if code := s.pipelined(head("status", "nobody's token")); code[len(code)-1] != http.StatusUnauthorized {
		t.Errorf("no caller: %d", code)
	}
	if code := s.pipelined(head("submit", s.secret("reader-token"))); code[len(code)-1] != http.StatusForbidden {
		t.Errorf("not a function of the caller: %d", code)
	}
	// More than the burst, on one connection, and so to one replica; refused
	// by their query, which asks the cluster nothing.
	spend := strings.Repeat("GET /functions/status?no=1 HTTP/1.1\r\nHost: runhook\r\nAuthorization: Bearer "+s.secret("reader-token")+"\r\n\r\n", 3000)
	s.eventually("the last of many is refused by its head", func() error {
		codes := s.pipelined(spend + head("status", s.secret("reader-token")))
		// Now and then the rate lets just the last one through, whose body
		// never comes.
		if last := codes[len(codes)-1]; last != http.StatusTooManyRequests {
			return fmt.Errorf("the last was answered %d", last)
		}
		return nil
	})
}

// pipelined sends requests on one connection, and gives the codes of all answers.
func (s *site) pipelined(requests string) []int {
	s.Helper()
	address, err := url.Parse(s.url)
	must(s, err)
	connection, err := net.Dial("tcp", address.Host)
	must(s, err)
	defer connection.Close()
	go func() { _, _ = connection.Write([]byte(requests)) }() // the answers tell
	answers := bufio.NewReader(connection)
	var codes []int
	for range strings.Count(requests, "HTTP/1.1") {
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			s.Fatalf("after %d answers: %v", len(codes), err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(response.Body)
		must(s, err)
		codes = append(codes, response.StatusCode)
		if response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
			s.Errorf("429 without Retry-After: %s", body.Bytes())
		}
	}
	return codes
}

// callingAccount is the ServiceAccount of the overlay that may call status.
const callingAccount = "caller"

func TestServiceAccountTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	accounts := s.kube.CoreV1().ServiceAccounts(namespace)
	token := func(account string, audiences ...string) string {
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
		made, err := accounts.CreateToken(s.Context(), account, request, metav1.CreateOptions{})
		must(s, err)
		return made.Status.Token
	}
	for name, tc := range map[string]struct {
		token    string
		function string
		want     int
	}{
		"for runhook":                     {token(callingAccount, auth.Audience), "status", http.StatusNotFound}, // there is no such run
		"for runhook and others":          {token(callingAccount, "other", auth.Audience), "status", http.StatusNotFound},
		"for a function that it may not":  {token(callingAccount, auth.Audience), "cancel", http.StatusForbidden},
		"for another audience":            {token(callingAccount, "other"), "status", http.StatusUnauthorized},
		"for the API server":              {token(callingAccount), "status", http.StatusUnauthorized},
		"of an account that may not call": {token("runner", auth.Audience), "status", http.StatusUnauthorized},
		"of a Secret":                     {s.tokenSecret(callingAccount), "status", http.StatusUnauthorized},
	} {
		request, err := http.NewRequest(http.MethodPost, s.url+"/functions/"+tc.function, strings.NewReader(`{"run": "no-such-run"}`))
		must(s, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+tc.token)
		if got := s.do(request); got.code != tc.want {
			t.Errorf("a token %s: got %d %s, want %d", name, got.code, got.body, tc.want)
		}
	}
}

// tokenSecret makes a Secret that the cluster fills with a token of an account,
// which is for the API server and says no audience.
func (s *site) tokenSecret(account string) string {
	s.Helper()
	secrets := s.kube.CoreV1().Secrets(namespace)
	made, err := secrets.Create(s.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: unique(s.T), Annotations: map[string]string{corev1.ServiceAccountNameKey: account}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	must(s, err)
	s.Cleanup(func() {
		if err := secrets.Delete(context.Background(), made.Name, metav1.DeleteOptions{}); err != nil {
			s.Errorf("delete the Secret %s: %v", made.Name, err)
		}
	})
	var token string
	s.eventually("the Secret has a token", func() error {
		secret, err := secrets.Get(s.Context(), made.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if token = string(secret.Data[corev1.ServiceAccountTokenKey]); token == "" {
			return errors.New("it is empty")
		}
		return nil
	})
	return token
}
