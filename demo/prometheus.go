package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// moved are the counters that a push and its run move. Other calls and
// processes of the site move the rest.
const moved = `{__name__=~"runhook_(hooks|runs_submitted|transitions|attempts_ended)_total"} or runhook_requests_total{function=~"push|submit"}`

const (
	// scraped is how long Prometheus may take to read all replicas: every 2 s
	// on the local cluster, and later on a busy machine.
	scraped = time.Minute
	// askEvery is how often Prometheus is asked meanwhile.
	askEvery = time.Second
)

// counters are what Prometheus has read, replica by replica: another replica
// counts for itself, and one that is gone takes what it counted with it.
type counters map[replicaSeries]int

type replicaSeries struct{ replica, series string }

func (s site) counters(ctx context.Context) (counters, error) {
	address := s.prometheusURL + "/api/v1/query?query=" + url.QueryEscape(moved)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any // when, and the number as a text
			}
		}
	}
	if err := call(request, &answer); err != nil {
		return nil, err
	}
	read := counters{}
	for _, sample := range answer.Data.Result {
		value, err := strconv.Atoi(fmt.Sprint(sample.Value[1]))
		if err != nil {
			return nil, err
		}
		read[replicaSeries{sample.Metric["instance"], seriesOf(sample.Metric)}] = value
	}
	return read, nil
}

// seriesOf writes a series as Prometheus does, without its replica.
func seriesOf(metric map[string]string) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(metric)) {
		if name != "__name__" && name != "instance" && name != "job" {
			labels = append(labels, fmt.Sprintf("%s=%q", name, metric[name]))
		}
	}
	return metric["__name__"] + "{" + strings.Join(labels, ",") + "}"
}

// since sums up over the replicas by how much each series rose.
func (c counters) since(before counters) map[string]int {
	rose := map[string]int{}
	for at, now := range c {
		rise := now - before[at]
		if rise < 0 { // the replica was started anew
			rise = now
		}
		if rise > 0 {
			rose[at.series] += rise
		}
	}
	return rose
}

// ofAPush are the counters that have risen when Prometheus has read all of a
// push: what answered the push, and the watch that saw the run's end.
var ofAPush = []string{
	`runhook_hooks_total{provider="github",result="accepted"}`,
	`runhook_runs_submitted_total{}`,
	`runhook_transitions_total{phase="Succeeded",queue="research"}`,
}

// rose waits until Prometheus has read all of a push, and gives what has risen.
func (s site) rose(ctx context.Context, before counters) (string, error) {
	limited, cancel := context.WithTimeout(ctx, scraped)
	defer cancel()
	for {
		now, err := s.counters(ctx)
		if err != nil {
			return "", fmt.Errorf("ask Prometheus: %w", err)
		}
		rose := now.since(before)
		missing := slices.IndexFunc(ofAPush, func(series string) bool { return rose[series] == 0 })
		if missing < 0 {
			return lines(rose), nil
		}
		select {
		case <-limited.Done():
			// The run has shown that runhook works; this shows how it is seen.
			return fmt.Sprintf("%s  (%s has not risen within %s)\n", lines(rose), ofAPush[missing], scraped), ctx.Err()
		case <-time.After(askEvery):
		}
	}
}

func lines(rose map[string]int) string {
	var text strings.Builder
	for _, series := range slices.Sorted(maps.Keys(rose)) {
		fmt.Fprintf(&text, "  +%d  %s\n", rose[series], strings.TrimSuffix(series, "{}"))
	}
	return text.String()
}
