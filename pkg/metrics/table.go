// Package metrics holds every metric of runhook: its name, its help and its
// closed label sets. No label ever holds a run, a pod, a branch or a text.
package metrics

import (
	"slices"
	"strconv"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

// Kind is a type of Prometheus.
type Kind string

// The kinds that are used.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric says what a metric means. The documentation is made from it.
type Metric struct {
	Name   string
	Kind   Kind
	Labels []string
	Help   string
}

// The metrics of serving.
var (
	requests = Metric{
		"runhook_requests_total", Counter, []string{"function", "code"},
		"Calls of functions, by HTTP or by a hook's route, by HTTP status. Calls of what is no function count as `none`.",
	}
	requestSeconds = Metric{
		"runhook_request_duration_seconds", Histogram, []string{"function", "code"},
		"Seconds from a call's arrival to its answer.",
	}
	deliveries = Metric{
		"runhook_hooks_total", Counter, []string{"provider", "result"},
		"Deliveries to hooks by provider and by what became of them: `accepted` (a function was called), `ignored`, or why they were refused.",
	}
	ignored = Metric{
		"runhook_ignored_total", Counter, []string{"reason"},
		"Events that a route ignored, by reason.",
	}
	submitted = Metric{
		"runhook_runs_submitted_total", Counter, nil,
		"Runs whose Workflow this replica created. A call that found its run already there counts nothing.",
	}
	truncated = Metric{
		"runhook_alerts_truncated_total", Counter, nil,
		"Alerts that Alertmanager left out of a notification because its group was too large.",
	}
	buildInfo = Metric{
		"runhook_build_info", Gauge, []string{"version", "goversion"},
		"Always 1; the labels say what runs.",
	}
)

// Table lists every metric, for the documentation.
func Table() []Metric {
	return []Metric{requests, requestSeconds, deliveries, ignored, submitted, truncated, buildInfo}
}

// none is the label of calls of what is no function.
const none = "none"

// Results of deliveries besides the kinds of faults.
const (
	Accepted = "accepted"
	Ignored  = "ignored"
)

// results is the closed set of what becomes of a delivery.
func results() []string {
	all := []string{Accepted, Ignored}
	for _, kind := range fault.Kinds {
		all = append(all, string(kind))
	}
	return all
}

// codes is the closed set of HTTP statuses of function calls.
func codes() []string {
	all := []string{"200", "201", "202", "405"}
	for _, kind := range fault.Kinds {
		all = append(all, strconv.Itoa(kind.Status()))
	}
	return all
}

func reasons() []string {
	all := make([]string, len(hook.Reasons))
	for i, reason := range hook.Reasons {
		all[i] = string(reason)
	}
	return all
}

// within keeps a label inside its closed set, whatever comes.
func within(set []string, value, other string) string {
	if slices.Contains(set, value) {
		return value
	}
	return other
}
