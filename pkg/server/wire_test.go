package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
)

// dial speaks HTTP by hand.
func (s *site) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func readAnswer(t *testing.T, c net.Conn) *http.Response {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestHeadIsBounded(t *testing.T) {
	s := newSite(t, smallLimits())
	send := func(size int) int {
		c := s.dial(t)
		head := "GET /healthz HTTP/1.1\r\nHost: x\r\nX: "
		head += strings.Repeat("x", size-len(head)-4) + "\r\n\r\n"
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		return readAnswer(t, c).StatusCode
	}
	if code := send(limits.Head); code != 200 {
		t.Errorf("exactly the limit: %d", code)
	}
	if code := send(limits.Head + 8<<10); code != 431 {
		t.Errorf("over the limit: %d", code)
	}
}

func TestRefusalsDoNotWaitForTheBody(t *testing.T) {
	s := newSite(t, smallLimits())
	for name, head := range map[string]string{
		"no token":        "POST /functions/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
		"declared length": "POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n",
		"content type":    "POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 1000\r\n\r\n",
		"expects 100":     "POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
		"chunks to come":  "POST /hooks/nobody HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := s.dial(t)
			if _, err := io.WriteString(c, head); err != nil {
				t.Fatal(err)
			}
			response := readAnswer(t, c)
			// The end of the answer is told at once, not when the rest of the body has come.
			if response.StatusCode < 400 || !response.Close || response.ContentLength <= 0 {
				t.Errorf("%d, close %v, %d bytes", response.StatusCode, response.Close, response.ContentLength)
			}
		})
	}
}

func TestBrokenBodies(t *testing.T) {
	s := newSite(t, smallLimits())
	const head = "POST /functions/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ciToken + "\r\nContent-Type: application/json\r\n"
	for name, rest := range map[string]string{
		"bad chunk": "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
		"cut body":  "Content-Length: 1000\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			c := s.dial(t)
			if _, err := io.WriteString(c, head+rest); err != nil {
				t.Fatal(err)
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if code := readAnswer(t, c).StatusCode; code != 400 {
				t.Errorf("%d", code)
			}
		})
	}
	select {
	case call := <-s.calls:
		t.Errorf("a broken body was called with: %+v", call)
	default:
	}
}

func TestConnectionsAreKept(t *testing.T) {
	s := newSite(t, smallLimits())
	c := s.dial(t)
	reader := bufio.NewReader(c)
	for range 3 {
		body := `{"run":"a"}`
		if _, err := fmt.Fprintf(c, "POST /functions/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", ciToken, len(body), body); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != 200 || response.Close {
			t.Fatalf("%d, close %v", response.StatusCode, response.Close)
		}
	}
}

func TestSlowSendersAreCutOff(t *testing.T) {
	set := smallLimits()
	set.HeadTime.Duration, set.BodyTime.Duration = 200*time.Millisecond, 200*time.Millisecond
	s := newSite(t, set)
	const proven = "POST /functions/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + ciToken + "\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n"
	for name, test := range map[string]struct {
		sent string
		code int // 0: closed without a word
	}{
		"in the head":            {"POST /functions/echo HTTP/1.1\r\nHost: x\r\n", 0},
		"in the body":            {proven + `{"run":`, 400},
		"in an unproven body":    {"POST /functions/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{", 401},
		"in the body of nothing": {"POST /elsewhere HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{", 404},
		"in the body of a probe": {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{", 200},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.dial(t)
			if _, err := io.WriteString(c, test.sent); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(c) // until the server closes
			if err != nil {
				t.Fatal(err)
			}
			if test.code == 0 && len(answer) > 0 || test.code > 0 && !strings.HasPrefix(string(answer), fmt.Sprintf("HTTP/1.1 %d ", test.code)) {
				t.Errorf("%s", answer)
			}
		})
	}
}

func TestAFunctionMayTakeLongerThanItsBody(t *testing.T) {
	set := smallLimits()
	set.BodyTime.Duration = 100 * time.Millisecond
	s := newSite(t, set)
	s.Functions.(functions)["echo"] = function.Function{Name: "echo", Handle: func(ctx context.Context, _ function.Call) (function.Response, error) {
		select {
		case <-ctx.Done():
			return function.Response{}, ctx.Err()
		case <-time.After(3 * set.BodyTime.Duration):
			return function.Response{Body: "done"}, nil
		}
	}}
	if got := do(t, s.request(t, "POST", "/functions/echo", `{}`, asCI, asJSON)); got.code != 200 {
		t.Errorf("the body's deadline ended the call: %+v", got)
	}
}

func TestHealth(t *testing.T) {
	s := newSite(t, smallLimits())
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := do(t, s.request(t, "GET", path, "")); got.code != 200 {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestStreams(t *testing.T) {
	s := newSite(t, smallLimits())
	table := s.Functions.(functions)
	table["read"] = function.Function{Name: "read", Reads: true, Handle: func(_ context.Context, call function.Call) (function.Response, error) {
		return function.Response{Stream: func(ctx context.Context, w io.Writer) error {
			if strings.Contains(string(call.Body), "nothing") {
				return errors.New("nothing to tell")
			}
			if _, err := io.WriteString(w, "first\n"); err != nil {
				return err
			}
			if strings.Contains(string(call.Body), "cut") {
				return errors.New("cut off")
			}
			<-ctx.Done()
			_, err := io.WriteString(w, "last\n")
			return err
		}}, nil
	}}
	if got := do(t, s.request(t, "GET", "/functions/read?run=nothing", "", asCI)); got.code != 500 || got.problem(t).Kind != "internal" {
		t.Errorf("%+v", got)
	}
	if got := do(t, s.request(t, "GET", "/functions/read?run=cut", "", asCI)); got.code != 200 || got.body != "first\n" || got.header.Get("Content-Type") != "text/plain; charset=UTF-8" {
		t.Errorf("%+v", got)
	}
	response, err := http.DefaultClient.Do(s.request(t, "GET", "/functions/read?run=follow", "", asCI))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	reader := bufio.NewReader(response.Body)
	if line, err := reader.ReadString('\n'); line != "first\n" || err != nil {
		t.Fatalf("the first write does not come at once: %q, %v", line, err)
	}
	s.cancel() // a stream ends when the server stops, and is told to its end
	if line, err := reader.ReadString('\n'); line != "last\n" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("%v", err)
	}
}
