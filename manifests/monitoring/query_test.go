package monitoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"

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
// and the labels of its result. The parser's language holds all of PromQL;
// Prometheus itself reads the queries on the cluster.
func (e exported) check(query string) (used, result []string, problems []error) {
	expr, err := metricsql.Parse(query)
	if err != nil {
		return nil, nil, []error{err}
	}
	known := slices.Clone(targetLabels)
	metricsql.VisitAll(expr, func(part metricsql.Expr) {
		selector, ok := part.(*metricsql.MetricExpr)
		if !ok {
			return
		}
		for _, matchers := range selector.LabelFilterss {
			name, labels, wrong := e.checkSelector(matchers)
			used, known, problems = append(used, name), append(known, labels...), append(problems, wrong...)
		}
	})
	metricsql.VisitAll(expr, func(part metricsql.Expr) {
		grouped, ok := part.(*metricsql.AggrFuncExpr)
		if !ok {
			return
		}
		for _, label := range grouped.Modifier.Args {
			if !slices.Contains(known, label) {
				problems = append(problems, fmt.Errorf("nothing in %s has a label %s", query, label))
			}
		}
		result = append(result, grouped.Modifier.Args...)
	})
	return used, result, problems
}

// checkSelector gives the metric of a selector, whose name is its first matcher,
// and the labels that it has.
func (e exported) checkSelector(matchers []metricsql.LabelFilter) (name string, labels []string, problems []error) {
	name, bucket, err := e.metric(matchers[0].Value)
	if err != nil {
		return "", nil, []error{err}
	}
	for label := range e.values[name] {
		labels = append(labels, label)
	}
	if bucket {
		labels = append(labels, "le")
	}
	for _, m := range matchers[1:] {
		problems = append(problems, e.checkMatcher(name, m)...)
	}
	return name, labels, problems
}

// checkMatcher says when a matcher can match nothing: no such label, or a value
// outside of its closed set.
func (e exported) checkMatcher(metric string, m metricsql.LabelFilter) (problems []error) {
	if slices.Contains(targetLabels, m.Label) {
		return nil
	}
	set, ok := e.values[metric][m.Label]
	if !ok {
		return []error{fmt.Errorf("%s has no label %s", metric, m.Label)}
	}
	if slices.Contains(openLabels, m.Label) {
		return nil
	}
	values := []string{m.Value}
	if m.IsRegexp {
		values = strings.Split(m.Value, "|")
	}
	for _, value := range values {
		if !set[value] {
			problems = append(problems, fmt.Errorf("%s is never %s=%q", metric, m.Label, value))
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
	if _, _, problems := e.check(`sum by (queue) rate(runhook_runs[5m])`); len(problems) != 1 {
		t.Errorf("what is no query has %v", problems)
	}
}
