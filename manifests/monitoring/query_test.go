package monitoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/runhook/runhook/docs"
	"github.com/runhook/runhook/pkg/metrics"
)

// Labels that Prometheus adds, and values that no closed set holds.
var (
	targetLabels = []string{"namespace", "pod", "job", "instance"}
	openLabels   = []string{"queue", "version", "goversion"}
)

// exported says what may be asked for.
type exported struct {
	kinds  map[string]metrics.Kind
	values map[string]map[string]map[string]bool // metric, label, value
}

func export(t *testing.T) exported {
	t.Helper()
	values, err := docs.LabelValues()
	if err != nil {
		t.Fatal(err)
	}
	e := exported{map[string]metrics.Kind{}, values}
	for _, m := range slices.Concat(metrics.Table(), metrics.WatchTable()) {
		e.kinds[m.Name] = m.Kind
	}
	return e
}

// metric is the metric of a series' name: a histogram has three kinds of series.
func (e exported) metric(series string) (name string, bucket bool, err error) {
	if kind, ok := e.kinds[series]; ok && kind != metrics.Histogram {
		return series, false, nil
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if name, cut := strings.CutSuffix(series, suffix); cut && e.kinds[name] == metrics.Histogram {
			return name, suffix == "_bucket", nil
		}
	}
	return "", false, fmt.Errorf("%s is not exported", series)
}

// check holds a query against what is exported, and gives the metrics it uses
// and the labels of its result.
func (e exported) check(query string) (used, result []string, problems []error) {
	expr, err := parser.ParseExpr(query)
	if err != nil {
		return nil, nil, []error{err}
	}
	known := slices.Clone(targetLabels)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		name, bucket, err := e.metric(selector.Name)
		if err != nil {
			problems = append(problems, err)
			return nil
		}
		used = append(used, name)
		for label := range e.values[name] {
			known = append(known, label)
		}
		if bucket {
			known = append(known, "le")
		}
		for _, m := range selector.LabelMatchers {
			problems = append(problems, e.checkMatcher(name, m)...)
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		grouped, ok := node.(*parser.AggregateExpr)
		if !ok {
			return nil
		}
		for _, label := range grouped.Grouping {
			if !slices.Contains(known, label) {
				problems = append(problems, fmt.Errorf("nothing in %s has a label %s", query, label))
			}
		}
		result = append(result, grouped.Grouping...)
		return nil
	})
	return used, result, problems
}

// checkMatcher says when a matcher can match nothing: no such label, or a value
// outside of its closed set.
func (e exported) checkMatcher(metric string, m *labels.Matcher) (problems []error) {
	if m.Name == labels.MetricName || slices.Contains(targetLabels, m.Name) {
		return nil
	}
	set, ok := e.values[metric][m.Name]
	if !ok {
		return []error{fmt.Errorf("%s has no label %s", metric, m.Name)}
	}
	if slices.Contains(openLabels, m.Name) {
		return nil
	}
	values := []string{m.Value}
	if m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		values = strings.Split(m.Value, "|")
	}
	for _, value := range values {
		if !set[value] {
			problems = append(problems, fmt.Errorf("%s is never %s=%q", metric, m.Name, value))
		}
	}
	return problems
}

func TestCheckFindsWhatIsNotExported(t *testing.T) {
	e := export(t)
	for query, want := range map[string]string{
		`sum by (queue) (rate(runhook_attempts_ended_total{cause="preempted"}[5m]))`:        "",
		`histogram_quantile(0.9, sum by (le) (rate(runhook_watch_lag_seconds_bucket[5m])))`: "",
		`runhook_runs{phase=~"Running|Preempted", queue="any"}`:                             "",
		`runhook_preempted_total`:                                 "runhook_preempted_total is not exported",
		`runhook_watch_lag_seconds > 1`:                           "runhook_watch_lag_seconds is not exported",
		`runhook_attempts_ended_total{cause="Preempted"}`:         `runhook_attempts_ended_total is never cause="Preempted"`,
		`runhook_hooks_total{result=~"accepted|refused"}`:         `runhook_hooks_total is never result="refused"`,
		`runhook_hooks_total{code="200"}`:                         "runhook_hooks_total has no label code",
		`sum by (run) (runhook_runs)`:                             "nothing in sum by (run) (runhook_runs) has a label run",
		`sum by (le) (rate(runhook_watch_lag_seconds_count[5m]))`: "nothing in sum by (le) (rate(runhook_watch_lag_seconds_count[5m])) has a label le",
		`sum by (queue) rate(runhook_runs[5m])`:                   "1:16: parse error: unexpected identifier \"rate\" in aggregation",
	} {
		_, _, problems := e.check(query)
		got := ""
		if len(problems) > 0 {
			got = problems[0].Error()
		}
		if got != want || len(problems) > 1 {
			t.Errorf("%s: %v, want %q", query, problems, want)
		}
	}
}
