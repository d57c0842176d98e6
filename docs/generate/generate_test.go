package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/openapi"
)

func page(t *testing.T, name string) string {
	t.Helper()
	t.Chdir("../..")
	var text bytes.Buffer
	if err := pages[name](&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func has(t *testing.T, page, text string) {
	t.Helper()
	if !strings.Contains(page, text) {
		t.Errorf("the page lacks %q", text)
	}
}

func TestLimitsHaveValueKeyAndReason(t *testing.T) {
	p := page(t, "docs/limits.md")
	has(t, p, "## Bytes that are read from outside\n")
	has(t, p, "| HookBody | 3 MiB | `limits.hookBody` | HookBody is the body of a webhook.")
	has(t, p, "| FollowTime | 1h |  |")
	has(t, p, "| Workers | 1000 |  |")
	for _, f := range openapi.Fields(reflect.TypeFor[limits.Set]()) {
		has(t, p, "| `limits."+f.Name+"` |")
	}
}

func TestMetricsHaveTheirLabels(t *testing.T) {
	p := page(t, "docs/metrics.md")
	for _, m := range append(metrics.Table(), metrics.WatchTable()...) {
		has(t, p, "| `"+m.Name+"` | "+string(m.Kind)+" |")
	}
	has(t, p, "| `runhook_requests_total` | `function` | ")
	has(t, p, "`skip-ci`")
}

func TestReferenceHasFieldsWithTheirComments(t *testing.T) {
	p := page(t, "docs/reference.md")
	c := config.Default()
	table, err := functions.New(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range table.Names() {
		has(t, p, "\n## "+name+"\n")
	}
	has(t, p, "| `tasks` | list of [run.Task](#runtask) | always | `tasks` are the nodes of the run's graph. |")
	// One comment may be about two fields.
	has(t, p, "| `memoryGiB` | whole number | always | `cores` and `memoryGiB` are what a planner may give")
}

func TestDurationsAndSizes(t *testing.T) {
	if got := []string{durationText(limits.HeadTime), durationText(limits.IdleTime), durationText(limits.OnceKeep), durationText(limits.HookPause)}; !reflect.DeepEqual(got, []string{"5s", "2m", "168h", "100ms"}) {
		t.Error(got)
	}
	if got := []string{sizeText(3 << 20), sizeText(120 << 10), sizeText(1 << 30), sizeText(1000)}; !reflect.DeepEqual(got, []string{"3 MiB", "120 KiB", "1 GiB", "1000"}) {
		t.Error(got)
	}
}
