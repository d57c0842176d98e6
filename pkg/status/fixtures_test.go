package status_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
)

// moments are the snapshots of one recorded case, by file name.
type moments map[string]json.RawMessage

// recorded reads a case that was recorded on a real cluster.
func recorded(t testing.TB, name string) moments {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "fixtures", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	var m moments
	if err := json.Unmarshal(plain, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m moments) workflow(t testing.TB, file, run string) *status.Workflow {
	t.Helper()
	w, err := status.ReadWorkflow(file, m[file], run)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (m moments) pods(t testing.TB, file string) []corev1.Pod {
	t.Helper()
	pods, err := status.ReadPods(file, m[file])
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
