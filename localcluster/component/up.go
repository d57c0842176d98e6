package component

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/runhook/runhook/localcluster/progress"
)

// poll is how often an unready component is looked at.
const poll = 100 * time.Millisecond

// Up brings every component up, each as soon as what it needs is ready. It
// returns the first failure, and stops starting others then.
func Up(ctx context.Context, c *Cluster, all []Component, p *progress.Printer) error {
	sorted, err := Sort(all)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ready := map[string]chan struct{}{}
	for _, component := range sorted {
		ready[component.Name] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for _, component := range sorted {
		wg.Go(func() {
			for _, need := range component.Needs {
				select {
				case <-ready[need]:
				case <-ctx.Done():
					return
				}
			}
			if err := bringUp(ctx, c, component, p); err != nil {
				cancel(err)
				return
			}
			close(ready[component.Name])
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// slow is what is worth a line: a running cluster's components take no time.
const slow = 50 * time.Millisecond

func bringUp(ctx context.Context, c *Cluster, component Component, p *progress.Printer) error {
	begin := time.Now()
	err := startAndWait(ctx, c, component)
	if gone := (*endedError)(nil); errors.As(err, &gone) {
		// It may have been dying already when it was taken for running, so once more.
		err = startAndWait(ctx, c, component)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // another failed, or the user has had enough
	}
	if err != nil {
		return fail(c, component, err)
	}
	if took := time.Since(begin); took > slow {
		p.Line("%-20s ready after %.1f s", component.Name, took.Seconds())
	}
	return nil
}

// fail names the log, and makes sure that it says at least as much.
func fail(c *Cluster, component Component, err error) error {
	log, logErr := openLog(c, component.Name)
	if logErr != nil {
		return errors.Join(err, logErr)
	}
	defer log.Close()
	fmt.Fprintln(log, "localcluster:", err)
	return fmt.Errorf("%s %w; see %s", component.Name, err, log.Name())
}

func startAndWait(ctx context.Context, c *Cluster, component Component) error {
	if err := component.Start(ctx, c); err != nil {
		return fmt.Errorf("does not start: %w", err)
	}
	return wait(ctx, c, component)
}

func wait(ctx context.Context, c *Cluster, component Component) error {
	deadline, cancel := context.WithTimeout(ctx, component.Patience)
	defer cancel()
	for {
		err := component.Ready(deadline, c)
		if err == nil {
			return nil
		}
		var gone *endedError
		if errors.As(err, &gone) {
			return fmt.Errorf("does not run: %w", err)
		}
		select {
		case <-time.After(poll):
		case <-deadline.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if component.Explain != nil {
				err = errors.Join(err, component.Explain(ctx, c))
			}
			return fmt.Errorf("is not ready after %s: %w", component.Patience, err)
		}
	}
}
