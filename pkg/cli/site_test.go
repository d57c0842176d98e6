package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// standIn is a runhook that notes how it is called and gives the answers that a
// test wants, the last one again and again.
type standIn struct {
	*httptest.Server
	lock    sync.Mutex
	calls   []string // function, query and body
	headers http.Header
	answers []answer
}

type answer struct {
	code int
	body string
}

func newStandIn(t *testing.T, answers ...answer) *standIn {
	t.Helper()
	s := &standIn{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.lock.Lock()
	defer s.lock.Unlock()
	line := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		line += "?" + r.URL.RawQuery
	}
	s.calls = append(s.calls, line+" "+string(body))
	s.headers = r.Header
	now := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	w.WriteHeader(now.code)
	fmt.Fprint(w, now.body)
}

// result is what a command line gave.
type result struct {
	code     int
	out, err string
}

// runhook runs a command line without a terminal.
func runhook(t *testing.T, in string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(t.Context(), args, System{
		Version: "test", Getenv: func(string) string { return "" }, In: strings.NewReader(in), Out: &out, Err: &errs,
	})
	return result{code, out.String(), errs.String()}
}

// at adds where the server is, and who calls.
func (s *standIn) at(t *testing.T, args ...string) []string {
	t.Helper()
	return append(args, "--server", s.URL, "--token-file", file(t, "token", "s3cret"))
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// squeezed makes a table comparable: spaces count once.
func squeezed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
