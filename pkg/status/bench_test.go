package status_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/status"
)

// manyNodes is a Workflow whose node status has n nodes as Argo writes them:
// Retry nodes with their pods.
func manyNodes(t testing.TB, n int) []byte {
	t.Helper()
	nodes := map[string]any{}
	node := func(id, name, kind, phase string, more map[string]any) {
		fields := map[string]any{
			"id": id, "name": "big." + name, "displayName": name, "type": kind, "phase": phase, "boundaryID": "big",
			"templateName": "train", "templateScope": "local/big", "progress": "1/1", "startedAt": "2026-11-30T09:34:05Z",
			"finishedAt": "2026-11-30T09:34:16Z", "resourcesDuration": map[string]int{"cpu": 0, "memory": 2},
			"inputs": map[string]any{"parameters": []any{map[string]string{"name": "i", "value": name}}},
		}
		for key, value := range more {
			fields[key] = value
		}
		nodes[id] = fields
	}
	for i := range n / 2 {
		id := fmt.Sprintf("big-%d", i)
		phase := "Succeeded"
		if i%50 == 0 {
			phase = "Failed"
		}
		node(id, fmt.Sprintf("fit-%d", i), "Retry", phase, map[string]any{"children": []string{id + "-0"}})
		node(id+"-0", fmt.Sprintf("fit-%d(0)", i), "Pod", phase, map[string]any{
			"hostNodeName": "n1", "outputs": map[string]string{"exitCode": "1"}, "message": "main: Error (exit code 1)",
			"nodeFlag": map[string]bool{"retried": true}, "taskResultSynced": true,
		})
	}
	nodes["big"] = map[string]any{"id": "big", "name": "big", "displayName": "big", "type": "DAG", "phase": "Running", "startedAt": "2026-11-30T09:34:05Z"}
	return marshal(t, map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": "big", "uid": "u"},
		"spec":   map[string]any{"entrypoint": "main", "templates": []any{map[string]any{"name": "train"}}},
		"status": map[string]any{"phase": "Running", "nodes": nodes},
	})
}

// compressed writes a Workflow's node status as Argo does when it is large.
func compressed(t testing.TB, data []byte) []byte {
	t.Helper()
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	state := w["status"].(map[string]any)
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(marshal(t, state["nodes"])); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	delete(state, "nodes")
	state["compressedNodes"] = base64.StdEncoding.EncodeToString(out.Bytes())
	return marshal(t, w)
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The floor is what any reader pays that decodes the whole Workflow.
func BenchmarkFloorUnmarshalArgoType(b *testing.B) {
	data := manyNodes(b, 10_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var w wfv1.Workflow
		if err := json.Unmarshal(data, &w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatusPlain(b *testing.B) { benchmarkStatus(b, manyNodes(b, 10_000)) }

func BenchmarkStatusCompressed(b *testing.B) { benchmarkStatus(b, compressed(b, manyNodes(b, 10_000))) }

func benchmarkStatus(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		w, _, err := status.ReadRun("workflow.json", data, "big")
		if err != nil {
			b.Fatal(err)
		}
		if got := status.Of(w, nil, nil); len(got.Tasks) != 5_000 {
			b.Fatalf("%d tasks", len(got.Tasks))
		}
	}
}
