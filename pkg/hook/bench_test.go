package hook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/hook"
)

// largePush is a push of at least size bytes whose last commit is the head.
func largePush(size int) string {
	var b strings.Builder
	b.WriteString(`{"ref":"refs/heads/main","before":"1111","after":"head","repository":{"full_name":"acme/pump-models"},"commits":[`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id":"%040d","message":"tune pump %d 🔧","timestamp":"2026-01-02T03:04:05Z","author":{"name":"Ada","email":"ada@acme.example"},`+
			`"added":["data/%d.csv"],"modified":["doc/%d.md","lib/%d.py"],"removed":[]},`, i, i, i, i, i)
	}
	b.WriteString(`{"id":"head","message":"done","added":[],"modified":["model/pump.yaml"],"removed":[]}]}`)
	return b.String()
}

func BenchmarkAccept(b *testing.B) {
	h := compile(b, "github", route(func(r *hook.RouteSpec) {
		r.Branches = []string{"main", "release/**"}
		r.Paths = []string{"model/**", "!**/*.md"}
		r.When = `event.repo.fullName == "acme/pump-models"`
		r.Set = map[string]string{"params.sha": "event.sha", "params.message": "event.message"}
	}))
	for _, size := range []int{10 << 10, 1 << 20} {
		d := github(largePush(size))
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(d.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if out, err := h.Accept(d, noon); err != nil || out.Decisions[0].Call == "" {
					b.Fatal(out, err)
				}
			}
		})
	}
}
