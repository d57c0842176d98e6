package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/runhook/runhook/pkg/status"
)

// runsCollector counts the runs when the metrics are read: a gauge that is
// changed with each event would drift from the truth with the first that is missed.
type runsCollector struct {
	watch *Watch
	runs  func() []RunState
}

func describeGauge(m Metric) *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}

var (
	runsDesc       = describeGauge(runsNow)
	repeatedlyDesc = describeGauge(preemptedRepeatedly)
	oldestDesc     = describeGauge(preemptedOldest)
)

// Describe names the gauges.
func (c *runsCollector) Describe(to chan<- *prometheus.Desc) {
	to <- runsDesc
	to <- repeatedlyDesc
	to <- oldestDesc
}

// Collect counts the runs that there are now.
func (c *runsCollector) Collect(to chan<- prometheus.Metric) {
	type tally struct {
		phases     map[status.Phase]int
		repeatedly int
		oldest     time.Duration
	}
	c.watch.lock.Lock()
	queues := slices.Clone(c.watch.queues)
	c.watch.lock.Unlock()
	tallies := map[string]*tally{}
	for _, queue := range queues {
		tallies[queue] = &tally{phases: map[status.Phase]int{}}
	}
	now := time.Now()
	for _, run := range c.runs() {
		t := tallies[within(queues, run.Queue, OtherQueue)]
		t.phases[run.Phase]++
		if run.Preemptions >= Repeatedly && !run.Phase.Ended() {
			t.repeatedly++
		}
		if run.Phase == status.Preempted && !run.Since.IsZero() {
			t.oldest = max(t.oldest, now.Sub(run.Since))
		}
	}
	for queue, t := range tallies {
		for _, phase := range status.Phases {
			to <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(t.phases[phase]), queue, string(phase))
		}
		to <- prometheus.MustNewConstMetric(repeatedlyDesc, prometheus.GaugeValue, float64(t.repeatedly), queue)
		to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, t.oldest.Seconds(), queue)
	}
}
