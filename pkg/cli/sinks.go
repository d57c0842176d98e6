package cli

import (
	"context"
	"log/slog"
	"sync"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event/commitstatus"
	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/watch"
)

// sinksOf makes what the sinks of the config are started with. It calls nobody.
func sinksOf(c *config.Config) ([]sink.Options, error) {
	var all []sink.Options
	for _, s := range c.Sinks {
		o := sink.Options{Name: s.Name, Retry: limits.SinkRetry}
		var err error
		if s.Type == config.SinkCommitStatus {
			o.Retry, o.Latest = limits.StatusRetry, true
			o.Receiver, err = commitstatus.New(s, linksOf(c))
		} else {
			o.Receiver, err = sink.NewHTTP(s)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// linksOf gives the link to a run; empty: nobody outside could follow it.
func linksOf(c *config.Config) func(run string) string {
	if c.PublicURL == "" {
		return func(string) string { return "" }
	}
	return c.StatusURL
}

// startSinks starts the sinks of the config; flush flushes them all.
func startSinks(c *config.Config, counted sink.Counter, log *slog.Logger) (sinks []watch.Sink, flush func(), err error) {
	all, err := sinksOf(c)
	if err != nil {
		return nil, nil, err
	}
	var started []*sink.Sink
	for _, o := range all {
		o.Counter, o.Log = counted, log
		s := sink.Start(o)
		started, sinks = append(started, s), append(sinks, s)
	}
	return sinks, func() {
		ctx, cancel := context.WithTimeout(context.Background(), limits.FlushTime)
		defer cancel()
		var all sync.WaitGroup
		for _, s := range started {
			all.Go(func() { s.Flush(ctx) })
		}
		all.Wait()
	}, nil
}
