package status_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/status"
)

// One node `wf-a`, Failed, OOMKilled, as Argo packs it.
const (
	gzipNodes = "H4sIAAAAAAACA6tWKk/TTVSyqlbKTFGygnB0lPISc1MRvJLKAhAvID8FyCnISCwG8dwSM3NSQQK5qcXFiekgodzEzDwrBX9/X+/MHKCcgkZqRWaJQnJ+SqqCobG5plJtLQBOUJZvbgAAAA=="
	zstdNodes = "KLUv/QRY5QIAYoUTGmBL3MS25kobVyJW9SvwtHB4C9ZfeCExCMJL7x0RBADIqw7YmsEHLp/ThIIxmKkVPc8JZYzRy5dP64CpYr18lWE1GiNNL/ntu7wmiMVdBAAgEAgj5i5gmEqMaO/x"
	oneNode   = `{"wf-a":{"id":"wf-a","name":"wf-a","type":"Pod","phase":"Failed","message":"main: OOMKilled (exit code 137)"}}`
)

func packed(nodes string) []byte {
	return []byte(`{"kind":"Workflow","metadata":{"name":"wf-a"},"status":{"phase":"Failed","compressedNodes":"` + nodes + `"}}`)
}

func pack(t testing.TB, plain []byte, writer func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var out bytes.Buffer
	w := writer(&out)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func zip(w io.Writer) io.WriteCloser  { return gzip.NewWriter(w) }
func brot(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) }
func zstandard(w io.Writer) io.WriteCloser {
	e, err := zstd.NewWriter(w)
	if err != nil {
		panic(err)
	}
	return e
}

func TestCompressedNodes(t *testing.T) {
	for name, nodes := range map[string]string{
		"gzip": gzipNodes, "zstd": zstdNodes, "brotli": pack(t, []byte(oneNode), brot),
	} {
		w, err := status.Decode(packed(nodes))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := status.Of(w, nil, nil)
		if attempts := got.Attempts["wf-a"]; got.Tasks["wf-a"].Phase != status.Failed || len(attempts) != 1 || attempts[0].Cause != "oom" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCompressedNodesThatCannotBeReadAreAnError(t *testing.T) {
	bomb := make([]byte, limits.NodeStatus+1)
	for name, c := range map[string]struct {
		nodes string
		want  fault.Kind
	}{
		"bad base64":     {"%%%", fault.Malformed},
		"cut gzip":       {gzipNodes[:40], fault.Malformed},
		"cut zstd":       {zstdNodes[:40], fault.Malformed},
		"no format":      {base64.StdEncoding.EncodeToString([]byte("hello, this is none of them")), fault.Malformed},
		"not nodes":      {pack(t, []byte("[1]"), zip), fault.Malformed},
		"a null node":    {pack(t, []byte(`{"a":null}`), zip), fault.Malformed},
		"a bomb":         {pack(t, bomb, zip), fault.TooLarge},
		"a bomb, zstd":   {pack(t, bomb, zstandard), fault.TooLarge},
		"a bomb, brotli": {pack(t, bomb, brot), fault.TooLarge},
	} {
		w, err := status.Decode(packed(c.nodes))
		if fault.KindOf(err) != c.want || w != nil {
			t.Errorf("%s: %v, want %s and no Workflow", name, err, c.want)
		}
	}
}

func TestOffloadedNodesAreSaidToBeUnavailable(t *testing.T) {
	for phase, want := range map[string]status.Phase{"Running": status.Running, "Succeeded": status.Succeeded, "Failed": status.Failed, "Pending": status.Pending} {
		w := workflow(t, phase, nil, func(o map[string]any) { o["status"].(map[string]any)["offloadNodeStatusVersion"] = "fnv:1" })
		got := status.Of(w, nil, nil)
		if got.Phase != want || !strings.Contains(got.Message, "nodes unavailable") {
			t.Errorf("%s: %s %q", phase, got.Phase, got.Message)
		}
	}
}

func FuzzCompressed(f *testing.F) {
	f.Add(gzipNodes)
	f.Add(zstdNodes)
	f.Add("%%%")
	f.Fuzz(func(t *testing.T, nodes string) {
		text, err := json.Marshal(nodes)
		if err != nil {
			return
		}
		w, err := status.Decode(packed(strings.Trim(string(text), `"`)))
		if err == nil {
			status.Of(w, nil, nil)
		}
	})
}
