package logs

import (
	"context"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/function"
)

func TestFollow(t *testing.T) {
	c := newCluster()
	second, third := make(chan string), make(chan string)
	c.followed = map[string]func(context.Context) io.ReadCloser{
		"p-0-2/main": func(context.Context) io.ReadCloser { return lines(second) },
		"p-0-3/main": func(context.Context) io.ReadCloser { return lines(third) },
	}
	response, err := call(t, c, function.Call{}, `{"run":"pump","task":"fit","worker":0,"follow":true}`)
	if err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		failed <- response.Stream(t.Context(), in)
		in.Close()
	}()
	second <- "alive\n"
	var all strings.Builder
	tee := io.TeeReader(out, &all)
	for !strings.Contains(all.String(), "alive\n") {
		if _, err := tee.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	// The attempt fails, and the next one, the last, is found.
	c.lock.Lock()
	c.run = pump(
		node{"pump", "pump", "DAG", "Running", nil, ""}, node{"pump-2", "pump.fit", "DAG", "Running", nil, ""},
		node{"pump-3", "pump.fit.fit-0", "Retry", "Running", []string{"pump-30", "pump-31", "pump-32", "pump-33"}, ""},
		node{"pump-30", "pump.fit.fit-0(0)", "Pod", "Failed", nil, ""}, node{"pump-31", "pump.fit.fit-0(1)", "Pod", "Failed", nil, ""},
		node{"pump-32", "pump.fit.fit-0(2)", "Pod", "Failed", nil, ""}, node{"pump-33", "pump.fit.fit-0(3)", "Pod", "Running", nil, ""})
	c.pods = append(c.pods, pod("p-0-3", "pump-33", corev1.PodRunning, running))
	c.lock.Unlock()
	close(second)
	third <- "again\n"
	c.lock.Lock()
	c.run = pump(
		node{"pump", "pump", "DAG", "Succeeded", nil, ""}, node{"pump-2", "pump.fit", "DAG", "Succeeded", nil, ""},
		node{"pump-3", "pump.fit.fit-0", "Retry", "Succeeded", []string{"pump-33"}, ""}, node{"pump-33", "pump.fit.fit-0(3)", "Pod", "Succeeded", nil, ""})
	c.pods = nil // what was shown is not missed
	c.lock.Unlock()
	close(third)
	if _, err := io.Copy(io.Discard, tee); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	text := all.String()
	for _, part := range []string{"(p-0-1) <==\none\ntwo\n", "attempt 2 (p-0-2) <==\nalive\n", "attempt 3 (p-0-3) <==\nagain\n", "[runhook: the pod is gone, and its log with it: main: Error (exit code 1)]\n"} {
		if strings.Count(text, part) != 1 {
			t.Errorf("%q stands %d times in:\n%s", part, strings.Count(text, part), text)
		}
	}
}

func TestFollowEndsWithTheCaller(t *testing.T) {
	c := newCluster()
	never := make(chan string)
	c.followed = map[string]func(context.Context) io.ReadCloser{"p-0-2/main": func(ctx context.Context) io.ReadCloser {
		r := lines(never)
		context.AfterFunc(ctx, func() { r.Close() })
		return r
	}}
	response, err := call(t, c, function.Call{}, `{"run":"pump","task":"fit-0","follow":true}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	failed := make(chan error, 1)
	go func() { failed <- response.Stream(ctx, in) }()
	read(t, out, "==> ")
	cancel()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := <-failed; err != nil {
		t.Errorf("got %v: a caller that goes away is no mistake", err)
	}
}

// lines is a log that grows by what is sent, and ends when the channel closes.
func lines(texts <-chan string) *io.PipeReader {
	r, w := io.Pipe()
	go func() {
		for text := range texts {
			_, _ = io.WriteString(w, text)
		}
		w.Close()
	}()
	return r
}
