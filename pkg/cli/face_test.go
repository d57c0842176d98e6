package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const aRun = "id: a\nqueue: research\ntasks:\n- {id: fit, image: busybox, command: [\"true\"]}\n"

func TestFaces(t *testing.T) {
	for name, tc := range map[string]struct {
		args   []string
		in     string
		answer string
		call   string
		table  string
	}{
		"submit": {[]string{"submit", "-f", "-"}, aRun, `{"run":"a","created":true,"phase":"Pending"}`,
			`POST /functions/submit {"id":"a","queue":"research","tasks":[{"id":"fit","image":"busybox","command":["true"]}]}`,
			"RUN CREATED PHASE\na yes Pending"},
		"submit dry": {[]string{"submit", "-f", "-", "--dry-run"}, aRun, `{"run":"a","created":false,"phase":"Pending","workflow":{}}`,
			`POST /functions/submit?dryRun=true {"id":"a","queue":"research","tasks":[{"id":"fit","image":"busybox","command":["true"]}]}`,
			"RUN CREATED PHASE\na no Pending"},
		"cancel": {[]string{"cancel", "a"}, "", `{"run":"a","phase":"Running","changed":true}`,
			`POST /functions/cancel {"run":"a"}`, "RUN PHASE CHANGED\na Running yes"},
		"stop": {[]string{"stop", "a"}, "", `{"run":"a","phase":"Succeeded","changed":false}`,
			`POST /functions/stop {"run":"a"}`, "RUN PHASE CHANGED\na Succeeded no"},
		"status": {[]string{"status", "a"}, "", `{"run":"a","phase":"Running","message":"","tasks":{
			"fit":{"phase":"Running","done":1,"of":11},"fit.fit-10":{"phase":"Pending","message":"ClusterQueue\nmain","waiting":{"reason":"queued","detail":"ClusterQueue\nmain"}},"fit.fit-2":{"phase":"Retrying","message":"\u001b[2Jboom"}},
			"attempts":{"fit-2":[{"attempt":0,"phase":"Failed","cause":"oom","message":"OOMKilled"},{"attempt":1,"phase":"Failed","cause":null}]}}`,
			`POST /functions/status {"run":"a"}`,
			"TASK PHASE DETAIL\na Running\nfit Running 1 of 11 done\nfit.fit-2 Retrying [2Jboom\nfit.fit-10 Pending queued: ClusterQueue main\n\nATTEMPT PHASE CAUSE DETAIL\nfit-2 0 Failed oom OOMKilled\nfit-2 1 Failed -"},
		"extra": {[]string{"extra", "a", "fit", "2"}, "", `{"run":"a","task":"fit","workers":2,"changed":true}`,
			`POST /functions/extra {"run":"a","task":"fit","workers":2}`, "RUN TASK WORKERS CHANGED\na fit 2 yes"},
		"nodes": {[]string{"nodes"}, "", `{"nodes":[{"name":"n1","cores":3,"memoryGiB":7,"free":{"cores":3.5,"memoryGiB":7.25},"reservedFor":null},{"name":"n2","cores":0,"memoryGiB":0,"free":{"cores":0,"memoryGiB":0},"reservedFor":"a"}]}`,
			`POST /functions/nodes {}`,
			"NAME CORES MEMORY GIB FREE CORES FREE MEMORY GIB RESERVED FOR\nn1 3 7 3.5 7.25 -\nn2 0 0 0 0 a"},
		"placements": {[]string{"placements"}, "", `{"placements":[{"run":"a","task":"fit","worker":0,"attempt":2,"pod":"p","node":"n1","phase":"Running","cores":0.1,"memoryGiB":0.125},{"run":"b","task":"x","worker":null,"attempt":0,"pod":"q","node":"","phase":"Pending","cores":1,"memoryGiB":1}]}`,
			`POST /functions/placements {}`,
			"RUN TASK WORKER ATTEMPT POD NODE PHASE CORES MEMORY GIB\na fit 0 2 p n1 Running 0.1 0.125\nb x - 0 q - Pending 1 1"},
		"reserve": {[]string{"reserve", "n1", "a"}, "", `{"node":"n1","run":"a","replaced":"b","changed":true}`,
			`POST /functions/reserve {"ifFree":false,"node":"n1","run":"a"}`, "NODE RUN REPLACED CHANGED\nn1 a b yes"},
		"reserve if free": {[]string{"reserve", "n1", "a", "--if-free"}, "", `{"node":"n1","run":"a","replaced":null,"changed":true}`,
			`POST /functions/reserve {"ifFree":true,"node":"n1","run":"a"}`, "NODE RUN REPLACED CHANGED\nn1 a - yes"},
		"unreserve": {[]string{"unreserve", "n1", "a"}, "", `{"node":"n1","run":"a","changed":true}`,
			`POST /functions/unreserve {"node":"n1","run":"a"}`, "NODE RUN CHANGED\nn1 a yes"},
		"has-image": {[]string{"has-image", "reg/a:1"}, "", `{"ref":"reg/a:1","exists":false,"digest":""}`,
			`POST /functions/has-image {"ref":"reg/a:1"}`, "REF EXISTS DIGEST\nreg/a:1 no -"},
		"build-image": {[]string{"build-image", "-f", "-"}, "ref: reg/a:1\nfiles: {Dockerfile: FROM x}\n", `{"build":"b1","ref":"reg/a:1","phase":"Failed","digest":"","log":"step 1\nboom","message":"too late"}`,
			`POST /functions/build-image {"ref":"reg/a:1","files":{"Dockerfile":"FROM x"}}`,
			"BUILD REF PHASE DIGEST\nb1 reg/a:1 Failed -\n\ntoo late\n\nstep 1\nboom"},
		"call": {[]string{"call", "anything", "-f", "-"}, "x: 1\n", `{"z":2}`,
			`POST /functions/anything {"x":1}`, "z: 2"},
		"call without a file": {[]string{"call", "nodes"}, "", `{"nodes":[]}`,
			`POST /functions/nodes {}`, "nodes: []"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t, answer{200, tc.answer})
			got := runhook(t, tc.in, s.at(t, append(tc.args, "-o", "table")...)...)
			if got.code != 0 {
				t.Fatalf("exit code %d: %s", got.code, got.err)
			}
			if diff := cmp.Diff([]string{tc.call}, s.calls); diff != "" {
				t.Error(diff)
			}
			if s.headers.Get("Authorization") != "Bearer s3cret" {
				t.Errorf("called with %q", s.headers.Get("Authorization"))
			}
			if diff := cmp.Diff(tc.table, strings.TrimSpace(squeezed(got.out))); diff != "" {
				t.Error(diff)
			}
			// For a program it is JSON, since this is no terminal.
			plain := runhook(t, tc.in, s.at(t, tc.args...)...)
			if !sameJSON(t, plain.out, tc.answer) {
				t.Errorf("without -o: %s", plain.out)
			}
		})
	}
}

func TestSubmitWithAKey(t *testing.T) {
	s := newStandIn(t, answer{201, `{"run":"a"}`})
	if got := runhook(t, aRun, s.at(t, "submit", "-f", "-", "--key", "k1")...); got.code != 0 || s.headers.Get("Idempotency-Key") != "k1" {
		t.Errorf("%+v, %v", got, s.headers)
	}
}

func TestLogs(t *testing.T) {
	s := newStandIn(t, answer{200, "line 1\nline 2\n"})
	got := runhook(t, "", s.at(t, "logs", "a", "fit", "--worker", "0", "--tail", "2", "--follow")...)
	if got.code != 0 || got.out != "line 1\nline 2\n" || s.headers.Get("Accept") != "text/plain" {
		t.Errorf("%+v, asked for %s", got, s.headers.Get("Accept"))
	}
	if want := `POST /functions/logs {"follow":true,"run":"a","tail":2,"task":"fit","worker":0}`; s.calls[0] != want {
		t.Errorf("got %s, want %s", s.calls[0], want)
	}
	s = newStandIn(t, answer{200, `{"logs":[]}`})
	got = runhook(t, "", s.at(t, "logs", "a", "fit", "-o", "json")...)
	if got.code != 0 || !sameJSON(t, got.out, `{"logs":[]}`) || s.headers.Get("Accept") != "application/json" {
		t.Errorf("%+v, asked for %s", got, s.headers.Get("Accept"))
	}
	if want := `POST /functions/logs {"run":"a","task":"fit"}`; s.calls[0] != want {
		t.Errorf("got %s, want %s", s.calls[0], want)
	}
}

func TestARefusalIsToldWithEveryMistake(t *testing.T) {
	s := newStandIn(t, answer{422, `{"kind":"invalid","detail":"the request is not valid","errors":[{"path":"run","detail":"a name is needed"},{"path":"tail","detail":"too small"}]}`})
	got := runhook(t, "", s.at(t, "cancel", "a")...)
	if want := "runhook: the request is not valid:\n  run: a name is needed\n  tail: too small\n"; got.code != 1 || got.err != want {
		t.Errorf("got %d %q, want %q", got.code, got.err, want)
	}
	for name, a := range map[string]answer{"not runhook": {502, "<html>"}, "no JSON": {200, "<html>"}} {
		s := newStandIn(t, a)
		if got := runhook(t, "", s.at(t, "cancel", "a")...); got.code != 1 || !strings.Contains(got.err, "not as runhook does") || got.out != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	s.Close()
	if got := runhook(t, "", s.at(t, "cancel", "a")...); got.code != 1 || !strings.Contains(got.err, "cannot be reached") {
		t.Errorf("a server that is away: %+v", got)
	}
}

func TestARunsMistakesHaveLines(t *testing.T) {
	s := newStandIn(t, answer{201, `{}`})
	got := runhook(t, "", s.at(t, "submit", "-f", file(t, "run.yaml", "id: a\ntasks:\n- id: fit\n  imagine: x\n"))...)
	if got.code != 1 || !strings.Contains(got.err, "run.yaml:4") || len(s.calls) > 0 {
		t.Errorf("%+v, calls %v", got, s.calls)
	}
}

func TestWrongCalls(t *testing.T) {
	s := newStandIn(t, answer{200, `{}`})
	token := file(t, "token", "s3cret")
	for _, line := range []string{
		"nothing", "status", "status a b", "status a --run b", "status a --pods p.json", "status -f w.json a", "status -f w.json --watch",
		"status -f w.json --wait", "status -f missing.json", "cancel", "cancel a b", "stop", "extra a fit", "extra a fit two", "logs a", "logs a fit --worker x", "logs a fit --follow -o json", "logs a fit -o table",
		"reserve n1", "unreserve", "has-image", "nodes x", "nodes -f testdata/nodes.json", "nodes --pods testdata/pods.json",
		"placements x", "submit", "submit -f missing.yaml", "submit -f - --dry-run --wait", "build-image", "call", "call a b", "call a -f missing.yaml",
		"status a -o xml", "status a --wait --timeout soon", "status a --kubeconfig k", "status a --token-file missing", "status a --server nowhere", "status a --server ftp://x",
	} {
		args := strings.Fields(line)
		if !strings.Contains(line, "--server") {
			args = append(args, "--server", s.URL)
		}
		if !strings.Contains(line, "--token-file") {
			args = append(args, "--token-file", token)
		}
		if got := runhook(t, "", args...); got.code != 2 || got.err == "" || got.out != "" {
			t.Errorf("%s: %+v, want exit code 2", line, got)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("a wrong call was made: %v", s.calls)
	}
}

func TestCompletion(t *testing.T) {
	got := runhook(t, "", "__complete", "call", "")
	for _, name := range []string{"submit", "build-image", "push"} {
		if !strings.Contains(got.out, name+"\n") {
			t.Errorf("%s is not proposed: %s", name, got.out)
		}
	}
	if got := runhook(t, "", "__complete", "status", "a", "-o", ""); !strings.HasPrefix(got.out, "table\njson\nyaml\n") {
		t.Errorf("formats: %s", got.out)
	}
	if got := runhook(t, "", "completion", "bash"); got.code != 0 || !strings.Contains(got.out, "runhook") {
		t.Errorf("no script: %+v", got)
	}
}
