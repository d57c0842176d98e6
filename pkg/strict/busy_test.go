package strict

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
)

func pod(cpu string) string {
	return `{"metadata":{"annotations":{"a":"1e5 is text","a":"twice"}},"spec":{"containers":[{"resources":{"REQUESTS":{"cpu":` + cpu + `}}}]}}`
}

func TestDecodable(t *testing.T) {
	for _, cpu := range []string{`"500m"`, `8`, `"1.5e3"`, `1e9999`, `"` + strings.Repeat("9", 900) + `"`, `"what is no quantity"`, `""`, `null`} {
		if err := Decodable([]byte(pod(cpu))); err != nil {
			t.Errorf("%.40s: %v", cpu, err)
		}
	}
	for _, cpu := range []string{
		`"99999999999999999999e999999999"`, `1e99999`, `-1e-999999999`, `"+1.5E+999999999"`, `"1e\u0039999999999"`,
		strings.Repeat("9", 1_000_000), `"0.` + strings.Repeat("9", 1_000_000) + `Gi"`, `"` + strings.Repeat("9", 1_000_000) + `e5"`,
	} {
		if err := Decodable([]byte(pod(cpu))); fault.KindOf(err) != fault.Malformed || len(err.Error()) > 500 {
			t.Errorf("%.40s: %.200v", cpu, err)
		}
	}
	for _, text := range []string{`{`, `[1`, `{"a":}`} {
		if err := Decodable([]byte(text)); fault.KindOf(err) != fault.Malformed {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// What is decodable is decoded or refused soon: the fuzzer's own time limit
// would tell of what is not.
func FuzzDecodable(f *testing.F) {
	f.Add([]byte(pod(`"500m"`)))
	f.Add([]byte(pod(`9999999999e9999`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if Decodable(data) == nil {
			_ = json.Unmarshal(data, &corev1.Pod{}) // whether it is a pod is not asked here
		}
	})
}
