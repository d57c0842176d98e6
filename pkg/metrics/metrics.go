package metrics

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

// Metrics holds the metrics of one process in a registry of its own.
type Metrics struct {
	registry  *prometheus.Registry
	functions []string
	providers []string

	requests       *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
	deliveries     *prometheus.CounterVec
	ignored        *prometheus.CounterVec
	submitted      prometheus.Counter
	truncated      prometheus.Counter
}

// buckets of seconds, with the limits of hooks (3 s), functions (5 s) and lists
// (30 s) among them.
var buckets = []float64{.01, .05, .25, 1, 3, 5, 30}

// New makes the metrics, every series of a closed set at 0: a rate over a
// series that appears with its first event misses that event.
func New(version string, functions, providers []string) *Metrics {
	m := &Metrics{
		registry:       prometheus.NewRegistry(),
		functions:      append([]string{none}, functions...),
		providers:      providers,
		requests:       counters(requests),
		requestSeconds: histograms(requestSeconds, buckets),
		deliveries:     counters(deliveries),
		ignored:        counters(ignored),
		submitted:      prometheus.NewCounter(prometheus.CounterOpts{Name: submitted.Name, Help: submitted.Help}),
		truncated:      prometheus.NewCounter(prometheus.CounterOpts{Name: truncated.Name, Help: truncated.Help}),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildInfo.Name, Help: buildInfo.Help}, buildInfo.Labels)
	info.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(
		m.requests, m.requestSeconds, m.deliveries, m.ignored, m.submitted, m.truncated, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.createAtZero()
	return m
}

func counters(m Metric) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func histograms(m Metric, buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: buckets}, m.Labels)
}

func (m *Metrics) createAtZero() {
	for _, name := range m.functions {
		for _, code := range codes() {
			m.requests.WithLabelValues(name, code)
			m.requestSeconds.WithLabelValues(name, code)
		}
	}
	for _, provider := range m.providers {
		for _, result := range results() {
			m.deliveries.WithLabelValues(provider, result)
		}
	}
	for _, reason := range reasons() {
		m.ignored.WithLabelValues(reason)
	}
}

// Request counts a call of a function and its time.
func (m *Metrics) Request(function string, code int, took time.Duration) {
	function = within(m.functions, function, none)
	label := within(codes(), strconv.Itoa(code), strconv.Itoa(fault.Internal.Status()))
	m.requests.WithLabelValues(function, label).Inc()
	m.requestSeconds.WithLabelValues(function, label).Observe(took.Seconds())
}

// Delivery counts a delivery to a hook by what became of it: Accepted, Ignored
// or the kind of the fault. Providers that no hook has count nothing.
func (m *Metrics) Delivery(provider, result string) {
	if within(m.providers, provider, "") == "" {
		return
	}
	m.deliveries.WithLabelValues(provider, within(results(), result, string(fault.Internal))).Inc()
}

// Answered counts what an answer to a delivery tells: ignored events, created
// runs, alerts that were cut.
func (m *Metrics) Answered(answer hook.Answer) {
	for _, result := range answer.Decisions {
		if result.Ignored != "" {
			m.ignored.WithLabelValues(within(reasons(), string(result.Ignored), string(hook.IgnoredEvent))).Inc()
		}
		if result.Created != nil && *result.Created {
			m.submitted.Inc()
		}
	}
	m.truncated.Add(float64(answer.TruncatedAlerts))
}

// Submitted counts a run whose Workflow was created.
func (m *Metrics) Submitted() { m.submitted.Inc() }

// Registry takes further metrics of the process.
func (m *Metrics) Registry() prometheus.Registerer { return m.registry }

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}
