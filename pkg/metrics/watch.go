package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/status"
)

// The metrics of the watch. Only the leader counts and shows runs, so that the
// sum over the replicas is right; what a run did before the leader knew it
// counts nothing.
var (
	transitions = Metric{
		"runhook_transitions_total", Counter, []string{"queue", "phase"},
		"Changes of runs to a phase.",
	}
	attemptsEnded = Metric{
		"runhook_attempts_ended_total", Counter, []string{"queue", "cause"},
		"Attempts that ended, by cause; `none` is a success that nothing interrupted.",
	}
	preemptedWait = Metric{
		"runhook_preempted_wait_seconds", Histogram, []string{"queue"},
		"Seconds from the interruption of an attempt to the start of the next one.",
	}
	runsNow = Metric{
		"runhook_runs", Gauge, []string{"queue", "phase"},
		"Runs that there are, by phase, with ended ones as long as their Workflow stays.",
	}
	preemptedRepeatedly = Metric{
		"runhook_runs_preempted_repeatedly", Gauge, []string{"queue"},
		"Runs that go on and of which Kueue has preempted attempts three times or more.",
	}
	preemptedOldest = Metric{
		"runhook_preempted_oldest_seconds", Gauge, []string{"queue"},
		"How long the run that has waited longest in phase Preempted does so; 0: none waits.",
	}
	falseSuccesses = Metric{
		"runhook_false_successes_total", Counter, []string{"queue"},
		"Attempts that were interrupted and gave exit code 0, so that Argo takes them for finished.",
	}
	eventsSent = Metric{
		"runhook_events_total", Counter, []string{"type", "result"},
		"Events to sinks: `delivered`, `retried` (one more try), `skipped` (nothing to send: a newer state was there, the host shows it already, or the commit is none that the config allows), `dead` (given up, told in the log with its id).",
	}
	buildsEnded = Metric{
		"runhook_builds_total", Counter, []string{"result"},
		"Builds of images that ended, by phase: those of `build-image`, and those of runs.",
	}
	buildSeconds = Metric{
		"runhook_build_seconds", Histogram, []string{"result"},
		"Seconds that builds took from their start to their end, by phase; one that never started took none.",
	}
	watchLag = Metric{
		"runhook_watch_lag_seconds", Histogram, nil,
		"Seconds from the arrival of a change to its events having been handed to the sinks.",
	}
	evidenceDropped = Metric{
		"runhook_evidence_dropped_total", Counter, nil,
		"Proofs of interruptions that a Workflow's annotation had no more room for, counted by the replica that wrote it.",
	}
	leader = Metric{
		"runhook_watch_leader", Gauge, nil,
		"1 on the replica that sends events, else 0.",
	}
)

// WatchTable lists the metrics that the watch has beside those of serving.
func WatchTable() []Metric {
	return []Metric{
		transitions, attemptsEnded, preemptedWait, runsNow, preemptedRepeatedly, preemptedOldest,
		falseSuccesses, eventsSent, buildsEnded, buildSeconds, watchLag, evidenceDropped, leader,
	}
}

// OtherQueue is the label of runs without a LocalQueue that exists.
const OtherQueue = "other"

// Results of sending an event.
const (
	Delivered = "delivered"
	Retried   = "retried"
	Skipped   = "skipped"
	Dead      = "dead"
)

// Repeatedly is how often a run is preempted until it counts as such again and again.
const Repeatedly = 3

// waits are the buckets of a preempted run's wait: seconds to a day.
var waits = []float64{5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}

// builds are the buckets of a build: seconds to an hour.
var builds = []float64{5, 15, 60, 300, 900, 3600}

// lags are those of the watch: an event should be out in tenths of a second.
var lags = []float64{.01, .05, .1, .5, 1, 5, 30}

// RunState is what the gauges show of one run.
type RunState struct {
	Queue string
	Phase status.Phase
	// Since is when the phase began; it is read in phase Preempted.
	Since time.Time
	// Preemptions is how often Kueue has preempted an attempt.
	Preemptions int
}

// Watch holds the metrics of the watch.
type Watch struct {
	transitions, attempts, falseSuccesses, events, builds *prometheus.CounterVec
	wait, buildSeconds                                    *prometheus.HistogramVec
	lag                                                   prometheus.Histogram
	dropped                                               prometheus.Counter
	leader                                                prometheus.Gauge

	lock   sync.Mutex
	queues []string
	types  []string
}

// NewWatch adds the metrics of the watch to those of its process. The types
// are those of events; runs gives the runs as they are when the metrics are read.
func NewWatch(m *Metrics, types []string, runs func() []RunState) *Watch {
	w := &Watch{
		transitions: counters(transitions), attempts: counters(attemptsEnded),
		falseSuccesses: counters(falseSuccesses), events: counters(eventsSent), builds: counters(buildsEnded),
		wait:         histograms(preemptedWait, waits),
		buildSeconds: histograms(buildSeconds, builds),
		lag:          prometheus.NewHistogram(prometheus.HistogramOpts{Name: watchLag.Name, Help: watchLag.Help, Buckets: lags}),
		dropped:      prometheus.NewCounter(prometheus.CounterOpts{Name: evidenceDropped.Name, Help: evidenceDropped.Help}),
		leader:       prometheus.NewGauge(prometheus.GaugeOpts{Name: leader.Name, Help: leader.Help}),
		types:        types,
	}
	m.registry.MustRegister(w.transitions, w.attempts, w.falseSuccesses, w.events, w.builds, w.wait, w.buildSeconds, w.lag, w.dropped, w.leader, &runsCollector{w, runs})
	for _, kind := range types {
		for _, result := range []string{Delivered, Retried, Skipped, Dead} {
			w.events.WithLabelValues(kind, result)
		}
	}
	for _, phase := range image.Phases {
		if phase.Ended() {
			w.builds.WithLabelValues(string(phase))
			w.buildSeconds.WithLabelValues(string(phase))
		}
	}
	w.AddQueue(OtherQueue)
	return w
}

// AddQueue makes a LocalQueue a label, with every series of it at 0.
func (w *Watch) AddQueue(queue string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if slices.Contains(w.queues, queue) {
		return
	}
	w.queues = append(w.queues, queue)
	for _, phase := range status.Phases {
		w.transitions.WithLabelValues(queue, string(phase))
	}
	for _, c := range append([]cause.Cause{cause.None}, cause.All...) {
		w.attempts.WithLabelValues(queue, causeLabel(c))
	}
	w.falseSuccesses.WithLabelValues(queue)
	w.wait.WithLabelValues(queue)
}

// queue keeps the label inside of the queues that exist.
func (w *Watch) queue(name string) string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return within(w.queues, name, OtherQueue)
}

func causeLabel(c cause.Cause) string {
	if c == cause.None {
		return none
	}
	return string(c)
}

// Transition counts a run's change to a phase.
func (w *Watch) Transition(queue string, phase status.Phase) {
	w.transitions.WithLabelValues(w.queue(queue), string(phase)).Inc()
}

// AttemptEnded counts the end of an attempt.
func (w *Watch) AttemptEnded(queue string, a status.Attempt) {
	queue = w.queue(queue)
	w.attempts.WithLabelValues(queue, causeLabel(a.Cause)).Inc()
	if a.FalseSuccess() {
		w.falseSuccesses.WithLabelValues(queue).Inc()
	}
}

// PreemptedWait notes how long an attempt came after the one that was interrupted.
func (w *Watch) PreemptedWait(queue string, wait time.Duration) {
	w.wait.WithLabelValues(w.queue(queue)).Observe(max(wait, 0).Seconds())
}

// Sent counts what became of an event: Delivered, Retried, Skipped or Dead.
func (w *Watch) Sent(kind, result string) {
	if slices.Contains(w.types, kind) {
		w.events.WithLabelValues(kind, result).Inc()
	}
}

// Built counts the end of a build; what is no end counts nothing.
func (w *Watch) Built(phase image.Phase, took time.Duration) {
	if phase.Ended() {
		w.builds.WithLabelValues(string(phase)).Inc()
		w.buildSeconds.WithLabelValues(string(phase)).Observe(max(took, 0).Seconds())
	}
}

// Lag notes how long a change took through the watch.
func (w *Watch) Lag(took time.Duration) { w.lag.Observe(took.Seconds()) }

// EvidenceDropped counts proofs that had no more room.
func (w *Watch) EvidenceDropped(n int) { w.dropped.Add(float64(max(n, 0))) }

// Leading says whether this replica sends events.
func (w *Watch) Leading(leads bool) {
	if leads {
		w.leader.Set(1)
	} else {
		w.leader.Set(0)
	}
}
