// Package recorded holds, for tests, what happened on a real cluster: the
// Workflows and pods of each case at each moment, and what is to be said of them.
package recorded

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/status"
)

//go:embed cases/*.json.gz truth.json status-truth.json
var files embed.FS

// Moments are the snapshots of one case, by file name.
type Moments map[string]json.RawMessage

// Read gives a case.
func Read(t testing.TB, name string) Moments {
	t.Helper()
	packed, err := files.ReadFile("cases/" + name + ".json.gz")
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
	var m Moments
	if err := json.Unmarshal(plain, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Workflow gives the Workflow of a run at a moment.
func (m Moments) Workflow(t testing.TB, file, run string) *status.Workflow {
	t.Helper()
	w, _, err := status.ReadRun(file, m[file], run)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Pods gives the pods that were there at a moment.
func (m Moments) Pods(t testing.TB, file string) []corev1.Pod {
	t.Helper()
	pods, err := status.ReadPods(file, m[file])
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

// Truth reads what is to be said: truth.json of causes, status-truth.json of phases.
func Truth(t testing.TB, file string, into any) {
	t.Helper()
	data, err := files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
