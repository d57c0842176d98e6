package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/gordo/cases"
)

const testdata = "../testdata"

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

func expected(t *testing.T, name, file string) any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata, "cases", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func TestEveryCaseNormalizesAsGordoDoes(t *testing.T) {
	for _, name := range cases.Names(t, testdata, "normalized.json") {
		t.Run(name, func(t *testing.T) {
			got := cases.Play(t, testdata, Normalize(), name)
			d, deviates := normalized[name]
			if deviates && d.outcome == refused {
				if got.Err == nil {
					t.Fatal("was accepted")
				}
				return
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			diff := cmp.Diff(expected(t, name, "normalized.json"), decode(t, []byte(got.Out)))
			if deviates != (diff != "") {
				t.Errorf("deviates: %v; -gordo +runhook:\n%s", deviates, diff)
			}
		})
	}
}
