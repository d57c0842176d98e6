// Command demo shows runhook's main job on the local cluster: it posts a
// signed push, as GitHub would, and follows the run until it has ended.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// patience is how long the run may take: a few seconds of work, and the pull
// of its image on a slow machine.
const patience = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	site, err := localSite()
	if err != nil {
		return err
	}
	before, err := site.counters(ctx)
	if err != nil {
		return fmt.Errorf("ask Prometheus: %w", err)
	}
	sha, push := freshPush()
	fmt.Printf("\nA push of commit %.8s to acme/pump-models, signed as GitHub signs:\n\n  POST %s/hooks/acme\n", sha, site.url)
	decision, err := site.deliver(ctx, push)
	if err != nil {
		return err
	}
	fmt.Printf("  → route %s called %s: run %s (created: %t)\n\n", decision.Route, decision.Call, decision.Run, decision.Created)

	if err := site.follow(ctx, decision.Run); err != nil {
		return err
	}
	status, text, err := site.status(ctx, decision.Run)
	if err != nil {
		return err
	}
	fmt.Printf("\nWhat `status` answers:\n\n%s", text)
	rose, err := site.rose(ctx, before)
	if err != nil {
		return err
	}
	fmt.Printf("\nWhat Prometheus has seen rise since the push, summed up over the replicas:\n\n%s", rose)

	phase, err := workflowPhase(ctx, decision.Run)
	if err != nil {
		return err
	}
	if phase != "Succeeded" || status.Phase != "Succeeded" {
		return fmt.Errorf("the Workflow %s is %s and runhook says %s; want Succeeded", decision.Run, phase, status.Phase)
	}
	fmt.Printf("\nThe Workflow itself says: %s.\n", phase)
	fmt.Print(site.goOn(decision.Run))
	return nil
}
