package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// latency compares one push with one raw create, in turn.
func (b *bench) latency(ctx context.Context) error {
	run, err := b.push(ctx) // also opens the connections
	if err != nil {
		return err
	}
	like, err := b.workflows.Get(ctx, run, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := b.create(ctx, like); err != nil {
		return err
	}
	var pushes, raws []time.Duration
	for range pairs {
		start := time.Now()
		if _, err := b.push(ctx); err != nil {
			return err
		}
		pushes = append(pushes, time.Since(start))
		start = time.Now()
		if err := b.create(ctx, like); err != nil {
			return err
		}
		raws = append(raws, time.Since(start))
	}
	fmt.Printf("POST to the Workflow's existence, %d pairs in turn:\n", pairs)
	fmt.Printf("  push        median %6.1f ms  p90 %6.1f ms\n", ms(quantile(pushes, 0.5)), ms(quantile(pushes, 0.9)))
	fmt.Printf("  raw create  median %6.1f ms  p90 %6.1f ms\n", ms(quantile(raws, 0.5)), ms(quantile(raws, 0.9)))
	fmt.Printf("  ratio of medians %.2f (aim: at most 1.2)\n\n", float64(quantile(pushes, 0.5))/float64(quantile(raws, 0.5)))
	return nil
}

// throughput compares many senders with as many raw creators, in rounds.
func (b *bench) throughput(ctx context.Context) error {
	run, err := b.push(ctx)
	if err != nil {
		return err
	}
	like, err := b.workflows.Get(ctx, run, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var pushes, raws time.Duration
	for range rounds {
		took, err := together(func() error { _, err := b.push(ctx); return err })
		if err != nil {
			return err
		}
		pushes += took
		if took, err = together(func() error { return b.create(ctx, like) }); err != nil {
			return err
		}
		raws += took
	}
	total := float64(rounds * senders * perSender)
	perPush, perRaw := total/pushes.Seconds(), total/raws.Seconds()
	fmt.Printf("%d senders, %d rounds of %d each, in turn:\n", senders, rounds, senders*perSender)
	fmt.Printf("  pushes       %6.1f a second\n  raw creates  %6.1f a second\n  ratio %.2f (aim: at least 0.8)\n", perPush, perRaw, perPush/perRaw)
	return nil
}

// together lets every sender do its share at once, and says how long all took.
func together(do func() error) (time.Duration, error) {
	start := time.Now()
	failures := make([]error, senders)
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			for range perSender {
				if err := do(); err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start), errors.Join(failures...)
}

func quantile(times []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
