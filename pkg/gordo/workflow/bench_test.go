package workflow_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/gordotest"
	"github.com/runhook/runhook/pkg/gordo/workflow"
)

var light, heavy = gordotest.Light, gordotest.Heavy

// generate does all that the command does, and gives the bytes it would print.
func generate(tb testing.TB, config string, flags map[string]string) (documents [][]byte) {
	tb.Helper()
	plan := planned(tb, config, flags)
	for d, err := range plan.Documents() {
		if err != nil {
			tb.Fatal(err)
		}
		text, err := json.Marshal(d)
		if err != nil {
			tb.Fatal(err)
		}
		documents = append(documents, text)
	}
	return documents
}

func planned(tb testing.TB, config string, flags map[string]string) *workflow.Plan {
	tb.Helper()
	o, err := gordo.ParseOptions(func(f gordo.Flag) (string, bool) {
		if v, ok := flags[f.Name]; ok {
			return v, true
		}
		v, ok := map[string]string{"project-name": "proj-a", "project-revision": "1700000000123"}[f.Name]
		return v, ok
	})
	if err != nil {
		tb.Fatal(err)
	}
	read, err := gordo.Load([]byte(config))
	if err != nil {
		tb.Fatal(err)
	}
	project, err := gordo.Normalize(read, o.Normal())
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := workflow.New(project, o, 3)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

func BenchmarkGenerate(b *testing.B) {
	for name, config := range map[string]func(int) string{"light": light, "heavy": heavy} {
		for _, machines := range []int{100, 1000, 5000} {
			text := config(machines)
			b.Run(fmt.Sprintf("%s/%d", name, machines), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					var buffer []byte
					written := 0
					plan := planned(b, text, nil)
					for d, err := range plan.Documents() {
						if err != nil {
							b.Fatal(err)
						}
						if buffer, err = d.AppendYAML(buffer[:0]); err != nil {
							b.Fatal(err)
						}
						written += len(buffer)
					}
					b.ReportMetric(float64(written)/1e6, "MB-out")
				}
			})
		}
	}
}
