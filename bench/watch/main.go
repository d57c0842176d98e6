// Command watch measures what the watch takes to follow many runs: the memory of
// its trimmed caches beside that of informers which keep everything, each in a
// process of its own, and the time from the API server's event of a change to
// the CloudEvent that a sink gets. It brings an etcd and an API server of its
// own, without controllers and nodes, so that no cluster is disturbed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// size is how much is measured.
type size struct {
	workflows, pods int
	// changes to as many runs that go on, so many a second.
	changes, rate int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s size
	flag.IntVar(&s.workflows, "workflows", 10_000, "Workflows that have ended")
	flag.IntVar(&s.pods, "pods", 2_000, "pods of some of them")
	flag.IntVar(&s.changes, "changes", 1_000, "runs that end while it is measured")
	flag.IntVar(&s.rate, "rate", 20, "how many of them end in a second")
	hold := flag.String("hold", "", "what this process is to hold: watch or informers; the command calls itself with it")
	flag.Parse()
	err := errors.New("-rate must be above 0")
	switch {
	case *hold != "":
		err = holdAndTell(ctx, *hold, flag.Args())
	case s.rate > 0:
		err = run(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/watch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s size) (err error) {
	dir, err := os.MkdirTemp("", "bench-watch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.fill(ctx, s); err != nil {
		return err
	}
	arrived, err := listen(s.changes)
	if err != nil {
		return err
	}
	defer arrived.close()
	return measure(ctx, s, server, arrived)
}

// measure holds everything twice, one after the other, and changes what the
// second one follows.
func measure(ctx context.Context, s size, server *server, arrived *arrivals) error {
	informers, err := startHolder(ctx, "informers", server.kubeconfig)
	if err != nil {
		return err
	}
	if err := informers.end(); err != nil {
		return err
	}
	watch, err := startHolder(ctx, "watch", server.kubeconfig, server.dir, arrived.url)
	if err != nil {
		return err
	}
	fmt.Printf("%d Workflows and %d pods, of which the watch follows %d that go on:\n", s.workflows+s.changes, s.pods, s.changes)
	fmt.Printf("| | live on the heap | resident | at the peak |\n|---|---|---|---|\n")
	fmt.Printf("| informers that keep everything | %s\n| the watch | %s\n", informers.memory, watch.memory)
	fmt.Printf("ratio on the heap: %.1f\n\n", float64(informers.memory.Live)/float64(watch.memory.Live))
	lags, err := server.change(ctx, s, arrived)
	if err := errors.Join(err, watch.end()); err != nil {
		return err
	}
	fmt.Printf("%d runs end, %d a second; from the API server's event to the CloudEvent at a sink:\np50 %.1f ms, p99 %.1f ms, at most %.1f ms\n",
		s.changes, s.rate, ms(quantile(lags, 0.5)), ms(quantile(lags, 0.99)), ms(quantile(lags, 1)))
	return nil
}
