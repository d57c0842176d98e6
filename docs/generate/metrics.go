package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/runhook/runhook/docs"
	"github.com/runhook/runhook/pkg/metrics"
)

// served says which process shows which metrics.
var served = []struct {
	title string
	table []metrics.Metric
}{
	{"Of every process, and of `runhook serve`", metrics.Table()},
	{"Of `runhook watch`", metrics.WatchTable()},
}

func metricsPage(page *bytes.Buffer) error {
	fmt.Fprint(page, made, "# Metrics\n\nServed at `/metrics` on a port of its own (`metrics` in the config). Every series of a closed set is there from the start, at 0. No label holds a run, a pod, a branch or a text; `queue` is a LocalQueue that exists, else `other`. Go's own metrics of the process stand beside these. [alerts.md](alerts.md) has the rules that read them, and a dashboard.\n")
	values, err := docs.LabelValues()
	if err != nil {
		return err
	}
	for _, s := range served {
		fmt.Fprintf(page, "\n## %s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n", s.title)
		for _, m := range s.table {
			fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, code(m.Labels), cell(m.Help))
		}
	}
	fmt.Fprint(page, "\n## Labels\n\n| metric | label | values |\n|---|---|---|\n")
	for _, s := range served {
		for _, m := range s.table {
			for _, label := range m.Labels {
				// A single value is no set: that of build_info says what runs.
				if set := values[m.Name][label]; len(set) > 1 {
					fmt.Fprintf(page, "| `%s` | `%s` | %s |\n", m.Name, label, code(slices.Sorted(maps.Keys(set))))
				}
			}
		}
	}
	return nil
}
