package workflow_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs one of the scripts with stand-ins for the programs it calls; what
// they are called with stands in the file `calls` of the folder it gives.
func script(t *testing.T, name string, programs map[string]string, env ...string) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	for program, text := range programs {
		text = "#!/bin/bash\nset -eu\ncd " + dir + "\necho \"" + program + " $*\" >> calls\n" + text
		if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "bash", filepath.Join("scripts", name+".sh"))
	c.Env = append([]string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}, env...)
	text, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return dir, err
}

func calls(t *testing.T, dir, with string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, with) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// TestOlderRevisionsGiveWay: what is older goes, what is younger stays, and of
// two of one second the one whose revision sorts first goes.
func TestOlderRevisionsGiveWay(t *testing.T) {
	const kubectl = `
case "$*" in
*project-revision=5*) printf '2026-01-01T00:00:05Z 5 own-0\n2026-01-01T00:00:09Z 5 own-1\n' ;;
*get*) [ -e gone ] || printf '2026-01-01T00:00:01Z 7 older\n2026-01-01T00:00:05Z 4 same-lower\n2026-01-01T00:00:05Z 6 same-higher\n2026-01-01T00:00:07Z 1 younger\n' ;;
*delete*) touch gone ;;
esac
`
	dir, err := script(t, "ensure-single-workflow", map[string]string{"kubectl": kubectl, "sleep": ""}, "GORDO_PROJECT_NAME=p", "GORDO_PROJECT_REVISION=5")
	if err != nil {
		t.Fatal(err)
	}
	deleted := calls(t, dir, "delete")
	if len(deleted) != 1 || !strings.HasSuffix(deleted[0], "--ignore-not-found older same-lower") {
		t.Errorf("deleted %q", deleted)
	}
	if listed := calls(t, dir, "project-revision!=5,workflows.argoproj.io/completed!=true"); len(listed) != 2 {
		t.Errorf("listed %q", listed)
	}
}

func TestNothingOlderEndsAtOnce(t *testing.T) {
	const kubectl = `case "$*" in *project-revision=5*) echo '2026-01-01T00:00:05Z 5 own-0' ;; esac`
	dir, err := script(t, "ensure-single-workflow", map[string]string{"kubectl": kubectl, "sleep": "exit 1"}, "GORDO_PROJECT_NAME=p", "GORDO_PROJECT_REVISION=5")
	if err != nil || len(calls(t, dir, "delete")) > 0 {
		t.Errorf("%v", err)
	}
}

func TestAClusterThatIsAwayFailsTheStep(t *testing.T) {
	if _, err := script(t, "ensure-single-workflow", map[string]string{"kubectl": "exit 1", "sleep": ""}, "GORDO_PROJECT_NAME=p", "GORDO_PROJECT_REVISION=5"); err == nil {
		t.Error("the step succeeded")
	}
}

func TestClientsWaitForEachOther(t *testing.T) {
	env := []string{"GORDO_PROJECT_NAME=p", "GORDO_PROJECT_REVISION=5", "GORDO_MAX_CLIENTS=2"}
	const kubectl = `[ -e once ] && echo pod/a || { touch once; printf 'pod/a\npod/b\n'; }`
	programs := map[string]string{"kubectl": kubectl, "sleep": ""}
	dir, err := script(t, "client-waiter", programs, append(env, "GORDO_TOTAL_NR_OF_CLIENTS=9")...)
	if err != nil || len(calls(t, dir, "get pods")) != 2 {
		t.Errorf("%v", err)
	}
	programs["kubectl"] = "exit 1"
	if _, err := script(t, "client-waiter", programs, append(env, "GORDO_TOTAL_NR_OF_CLIENTS=2")...); err != nil {
		t.Errorf("few clients had to ask: %v", err)
	}
}

func TestAClientPredictsFromTheTrainingUntilNow(t *testing.T) {
	dir, err := script(t, "client", map[string]string{"gordo-client": ""}, "GORDO_TRAIN_START_DATE=2021-03-01 00:00:00+00:00")
	if got := calls(t, dir, "predict 2021-03-01 00:00:00+00:00 20"); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], "+00:00") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestScriptsSpeakHTTP sends what the scripts of influx and grafana say to a
// server of ours, by a copy that knows its port.
func TestScriptsSpeakHTTP(t *testing.T) {
	for name, test := range map[string]struct {
		port string
		want []string
	}{
		"influx-database": {"8086", []string{"POST /query?q=CREATE%20DATABASE%20feeder"}},
		"grafana-sources": {"3000", []string{"POST /api/datasources", "POST /api/datasources", "POST /api/dashboards/db"}},
	} {
		for _, status := range []string{"200 OK", "500 Internal Server Error"} {
			requests, err := served(t, name, test.port, status)
			if good := status == "200 OK"; good != (err == nil) {
				t.Errorf("%s, answered %s: %v", name, status, err)
			} else if good && strings.Join(requests, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("%s said %q", name, requests)
			}
		}
	}
}

func served(t *testing.T, name, port, status string) (requests []string, err error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(connection)); err == nil {
				body, _ := io.ReadAll(r.Body)
				if int64(len(body)) == r.ContentLength {
					requests = append(requests, r.Method+" "+r.URL.RequestURI())
				}
			}
			fmt.Fprintf(connection, "HTTP/1.0 %s\r\n\r\n", status)
			connection.Close()
		}
	}()
	text, err := os.ReadFile(filepath.Join("scripts", name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := net.SplitHostPort(listener.Addr().String())
	c := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(string(text), "HOST/"+port, "HOST/"+own))
	c.Env = append(os.Environ(), "INFLUX_HOST=127.0.0.1", "GRAFANA_HOST=127.0.0.1", "POSTGRES_HOST=postgres")
	err = c.Run()
	listener.Close()
	<-done
	return requests, err
}
