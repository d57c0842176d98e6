//go:build cluster

package clustertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/hook/hooktest"
	"github.com/runhook/runhook/pkg/limits"
)

// process gives the pid of a component of the local cluster.
func (s *site) process(component string) *os.Process {
	s.Helper()
	// It fails where a component is not ready, which it also prints.
	out, _ := exec.Command(filepath.Join(root, "bin/localcluster"), "status", "-o", "json").Output()
	var components []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	if err := json.Unmarshal(out, &components); err != nil {
		s.Fatal(err)
	}
	for _, c := range components {
		if c.Name == component && c.PID > 1 {
			process, err := os.FindProcess(c.PID)
			if err != nil {
				s.Fatal(err)
			}
			return process
		}
	}
	s.Fatalf("the local cluster has no process %s: %s", component, out)
	return nil
}

// slack is what a busy machine may add to runhook's own limits. Without them a
// call on a cluster that hangs would take minutes.
const slack = 10 * time.Second

// answersIn sends a request and says how long the answer took.
func (s *site) answersIn(request *http.Request) (answer, time.Duration) {
	s.Helper()
	before := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		// Not fatal: who calls must heal what it has stopped.
		s.Error(err)
		return answer{}, 0
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Error(err)
	}
	return answer{code: response.StatusCode, header: response.Header, body: text}, time.Since(before)
}

// outages are the ways in which the API server is away.
var outages = []struct {
	name string
	stop func(apiserver *os.Process) error
	heal func(s *site, apiserver *os.Process)
}{
	{"the API server hangs",
		func(apiserver *os.Process) error { return apiserver.Signal(syscall.SIGSTOP) },
		func(s *site, apiserver *os.Process) { must(s, apiserver.Signal(syscall.SIGCONT)) }},
	{"the API server has ended",
		(*os.Process).Kill,
		func(s *site, _ *os.Process) {
			if out, err := exec.Command(filepath.Join(root, "bin/localcluster"), "up").CombinedOutput(); err != nil {
				s.Errorf("localcluster up: %v: %s", err, out)
			}
		}},
}

func TestHookSays503WhileTheClusterIsAway(t *testing.T) {
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			s := newSite(t)
			s.alone("apiserver")
			p := hooktest.NewGitHubPush("while the cluster is away")
			apiserver := s.process("apiserver")
			must(s, outage.stop(apiserver))
			got, took := s.answersIn(s.delivery(p.Body()))
			outage.heal(s, apiserver)
			if got.code != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
				t.Errorf("answered %d, Retry-After %q: %s", got.code, got.header.Get("Retry-After"), got.body)
			}
			if took > limits.HookTime+slack {
				t.Errorf("answered after %s, the limit is %s", took, limits.HookTime)
			}
			var run string
			s.eventually("the same delivery succeeds", func() error {
				again := s.do(s.delivery(p.Body()))
				if again.code != http.StatusAccepted {
					return fmt.Errorf("%d %s", again.code, again.body)
				}
				run = s.decisionOf(again).Run
				return nil
			})
			s.deleteAtEnd(run)
			s.waitPhase(run, "Succeeded")
		})
	}
}

func must(s *site, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// TestSIGTERMDuringARequest ends a runhook of our own while half of a delivery
// is still to come.
func TestSIGTERMDuringARequest(t *testing.T) {
	s := newSite(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	overlay, err := os.ReadFile(filepath.Join(root, "manifests/overlays/local/config.yaml"))
	must(s, err)
	secrets, err := filepath.Abs(filepath.Join(root, "bin/deploy"))
	must(s, err)
	text := strings.ReplaceAll(string(overlay), "/etc/runhook-secrets", secrets) + "listen: 127.0.0.1:0\nmetrics: 127.0.0.1:0\n"
	must(s, os.WriteFile(config, []byte(text), 0o600))

	runhook := exec.Command(filepath.Join(root, "bin/runhook"), "serve", "-c", config)
	logs, err := runhook.StderrPipe()
	must(s, err)
	must(s, runhook.Start())
	t.Cleanup(func() { _ = runhook.Process.Kill() })
	address := listening(s, logs)

	p := hooktest.NewGitHubPush("half now, half after SIGTERM")
	body := p.Body()
	connection, err := net.Dial("tcp", address)
	must(s, err)
	defer connection.Close()
	fmt.Fprintf(connection, "POST /hooks/acme HTTP/1.1\r\nHost: runhook\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: d\r\nX-Hub-Signature-256: %s\r\nContent-Length: %d\r\n\r\n",
		s.signature(body), len(body))
	_, err = connection.Write(body[:len(body)/2])
	must(s, err)
	s.eventually("readyz says that it serves", func() error { return ready(address) })
	must(s, runhook.Process.Signal(syscall.SIGTERM))
	s.eventually("new connections are refused or not ready", func() error {
		if ready(address) == nil {
			return errors.New("still ready")
		}
		return nil
	})
	_, err = connection.Write(body[len(body)/2:])
	must(s, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatalf("the request under way was not answered: %v", err)
	}
	answered, err := io.ReadAll(response.Body)
	must(s, err)
	got := answer{code: response.StatusCode, body: answered}
	if got.code != http.StatusAccepted {
		t.Fatalf("answered %d: %s", got.code, got.body)
	}
	s.deleteAtEnd(s.decisionOf(got).Run)
	if err := runhook.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func ready(address string) error {
	response, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// listening reads the log until it says where runhook listens.
func listening(s *site, logs io.Reader) string {
	s.Helper()
	scanner := bufio.NewScanner(logs)
	for scanner.Scan() {
		var line struct {
			Msg     string `json:"msg"`
			Address string `json:"address"`
		}
		if json.Unmarshal(bytes.TrimSpace(scanner.Bytes()), &line) == nil && line.Msg == "serving" {
			go io.Copy(io.Discard, logs)
			return line.Address
		}
	}
	s.Fatal("runhook never listened")
	return ""
}
