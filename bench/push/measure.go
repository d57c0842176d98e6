package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// latency compares one call that makes a run with one raw create of the same
// object, in turn.
func (b *bench) latency(ctx context.Context, name string, call func(context.Context) (string, error)) error {
	like, err := b.like(ctx, call) // also opens the connections
	if err != nil {
		return err
	}
	if err := b.create(ctx, like); err != nil {
		return err
	}
	var calls, raws []time.Duration
	for range pairs {
		start := time.Now()
		if _, err := call(ctx); err != nil {
			return err
		}
		calls = append(calls, time.Since(start))
		start = time.Now()
		if err := b.create(ctx, like); err != nil {
			return err
		}
		raws = append(raws, time.Since(start))
	}
	fmt.Printf("POST to the Workflow's existence, %d pairs in turn:\n", pairs)
	fmt.Printf("  %-10s  median %6.1f ms  p90 %6.1f ms\n", name, ms(quantile(calls, 0.5)), ms(quantile(calls, 0.9)))
	fmt.Printf("  raw create  median %6.1f ms  p90 %6.1f ms\n", ms(quantile(raws, 0.5)), ms(quantile(raws, 0.9)))
	fmt.Printf("  ratio of medians %.2f (aim: at most 1.2)\n\n", float64(quantile(calls, 0.5))/float64(quantile(raws, 0.5)))
	return nil
}

// like gives the Workflow that a call makes.
func (b *bench) like(ctx context.Context, call func(context.Context) (string, error)) (*wfv1.Workflow, error) {
	run, err := call(ctx)
	if err != nil {
		return nil, err
	}
	return b.workflows.Get(ctx, run, metav1.GetOptions{})
}

// throughput compares many senders with as many raw creators, in rounds.
func (b *bench) throughput(ctx context.Context) error {
	like, err := b.like(ctx, b.push)
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
