package metrics

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

func newMetrics() *Metrics {
	return New("v1", []string{"submit", "status"}, []string{"github", "alertmanager"})
}

// gather gives every series of runhook with its value, or the count of a histogram.
func gather(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "runhook_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			switch family.GetType() {
			case dto.MetricType_HISTOGRAM:
				series[name] = float64(metric.GetHistogram().GetSampleCount())
			case dto.MetricType_GAUGE:
				series[name] = metric.GetGauge().GetValue()
			default:
				series[name] = metric.GetCounter().GetValue()
			}
		}
	}
	return series
}

func TestEverySeriesIsThereAtZero(t *testing.T) {
	series := gather(t, newMetrics())
	for _, want := range []string{
		"runhook_requests_total code=201 function=submit", "runhook_requests_total code=503 function=status",
		"runhook_requests_total code=404 function=none", "runhook_request_duration_seconds code=200 function=status",
		"runhook_hooks_total provider=github result=accepted", "runhook_hooks_total provider=alertmanager result=too-many",
		"runhook_ignored_total reason=skip-ci", "runhook_runs_submitted_total", "runhook_alerts_truncated_total",
	} {
		if value, ok := series[want]; !ok || value != 0 {
			t.Errorf("%s: %g, %v", want, value, ok)
		}
	}
}

func TestCounts(t *testing.T) {
	m := newMetrics()
	yes, no := true, false
	m.Request("submit", 201, time.Second)
	m.Request("nothing", 404, time.Second)
	m.Request("submit", 299, time.Second)
	m.Delivery("github", Accepted)
	m.Delivery("github", string(fault.Unproven))
	m.Delivery("github", "who knows")
	m.Delivery("svn", Accepted)
	m.Submitted()
	m.Answered(hook.Answer{TruncatedAlerts: 3, Decisions: []hook.Result{
		{Ignored: hook.IgnoredBranch}, {Call: "submit", Created: &yes}, {Call: "submit", Created: &no}, {Call: "stop"}, {Ignored: "free text"},
	}})
	changed := map[string]float64{}
	for name, value := range gather(t, m) {
		if value != 0 {
			changed[name] = value
		}
	}
	for name := range changed {
		if strings.HasPrefix(name, "runhook_build_info") {
			if changed[name] != 1 || !strings.Contains(name, "version=v1") {
				t.Errorf("%s %g", name, changed[name])
			}
			delete(changed, name)
		}
	}
	want := map[string]float64{
		"runhook_requests_total code=201 function=submit":           1,
		"runhook_requests_total code=404 function=none":             1,
		"runhook_requests_total code=500 function=submit":           1,
		"runhook_request_duration_seconds code=201 function=submit": 1,
		"runhook_request_duration_seconds code=404 function=none":   1,
		"runhook_request_duration_seconds code=500 function=submit": 1,
		"runhook_hooks_total provider=github result=accepted":       1,
		"runhook_hooks_total provider=github result=unproven":       1,
		"runhook_hooks_total provider=github result=internal":       1,
		"runhook_runs_submitted_total":                              2,
		"runhook_alerts_truncated_total":                            3,
		"runhook_ignored_total reason=branch":                       1,
		"runhook_ignored_total reason=event":                        1,
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
}

func TestRunsAddNoSeries(t *testing.T) {
	m := newMetrics()
	before := len(gather(t, m))
	created := true
	for i := range 1000 {
		run := fmt.Sprintf("run-%d", i)
		m.Request(run, 200+i, time.Second)
		m.Delivery(run, run)
		m.Submitted()
		m.Answered(hook.Answer{Decisions: []hook.Result{
			{Route: run, Call: "submit", Run: run, Created: &created, URL: run}, {Route: run, Ignored: hook.Reason(run)},
		}})
	}
	if after := len(gather(t, m)); after != before {
		t.Errorf("1000 runs added %d series", after-before)
	}
}

// TestTable holds the table, of which the documentation is made, against what is served.
func TestTable(t *testing.T) {
	m := newMetrics()
	NewWatch(m, []string{"runhook.run.failed.v1"}, func() []RunState { return nil })
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]Metric{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "runhook_") {
			continue
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		kind := Kind(strings.ToLower(family.GetType().String()))
		served[family.GetName()] = Metric{family.GetName(), kind, labels, family.GetHelp()}
	}
	table := map[string]Metric{}
	for _, m := range append(Table(), WatchTable()...) {
		table[m.Name] = m
	}
	sortLabels := cmp.Transformer("set", func(labels []string) map[string]bool {
		set := map[string]bool{}
		for _, label := range labels {
			set[label] = true
		}
		return set
	})
	if diff := cmp.Diff(table, served, sortLabels); diff != "" {
		t.Error(diff)
	}
}

func TestHandler(t *testing.T) {
	m := newMetrics()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{"runhook_runs_submitted_total 0", "go_goroutines "} {
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
}
