package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerateSubmitsAtAServer(t *testing.T) {
	const config = "../../docs/examples/gordo.yaml"
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/functions/generate" || json.NewDecoder(r.Body).Decode(&got) != nil {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprint(w, `{"runs": [{"run": "pumps-7-0", "created": true}], "warnings": []}`)
	}))
	defer server.Close()
	var out, errs bytes.Buffer
	sys := System{Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &errs}
	args := []string{"generate", config, "--project-name", "pumps", "--project-revision", "7", "--n-servers", "3", "--with-keda=false", "--submit", "--server", server.URL, "--token-file", file(t, "token", "s3cret")}
	if code := Run(t.Context(), append(args, "-o", "json"), sys); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	want := map[string]any{"config": string(text), "projectName": "pumps", "revision": "7", "submit": true,
		"options": map[string]any{"n-servers": "3", "with-keda": "false"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(out.String(), `"run": "pumps-7-0"`) {
		t.Errorf("printed %s", &out)
	}
	// What is wrong is told before anybody is asked.
	got = nil
	if code := Run(t.Context(), append(args, "--n-servers", "many"), sys); code == 0 || got != nil || !strings.Contains(errs.String(), "--n-servers") {
		t.Errorf("exit code %d, asked for %v: %s", code, got, &errs)
	}
}
