package docs

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/metrics"
)

// LabelValues reads the closed sets of every metric's labels from the series
// that are there at 0: metric, label, value.
func LabelValues() (map[string]map[string]map[string]bool, error) {
	c := config.Default()
	table, err := functions.New(&c, nil)
	if err != nil {
		return nil, err
	}
	m := metrics.New("", table.Names(), slices.Sorted(maps.Keys(hook.Providers)))
	metrics.NewWatch(m, event.Types(), func() []metrics.RunState { return nil })
	families, err := m.Registry().(prometheus.Gatherer).Gather()
	if err != nil {
		return nil, err
	}
	values := map[string]map[string]map[string]bool{}
	for _, family := range families {
		labels := map[string]map[string]bool{}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if labels[label.GetName()] == nil {
					labels[label.GetName()] = map[string]bool{}
				}
				labels[label.GetName()][label.GetValue()] = true
			}
		}
		values[family.GetName()] = labels
	}
	return values, nil
}
