// Command push measures what runhook adds to a push and to a submit: the time
// from POST to the Workflow's existence beside a raw create of the same object, and pushes per
// second with 16 senders beside 16 raw creators, in turn and in one run. It
// works on the local cluster, with Argo's controller stopped, so that no pods
// disturb the measure, and deletes what it made.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

const (
	// pairs of one push and one raw create, one after the other.
	pairs = 60
	// senders at once, and what each sends, in rounds that alternate.
	senders   = 16
	perSender = 10
	rounds    = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench/push:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	resume, err := b.stopController(ctx)
	if err != nil {
		return err
	}
	// What was interrupted is tidied up all the same.
	defer func() {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if failure := b.deleteAll(tidy); err == nil {
			err = failure
		}
		if failure := resume(tidy); err == nil {
			err = failure
		}
	}()
	if err := b.latency(ctx, "push", b.push); err != nil {
		return err
	}
	if err := b.latency(ctx, "submit", b.submit); err != nil {
		return err
	}
	return b.throughput(ctx)
}
