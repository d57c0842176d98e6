package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
)

// Exit codes of a run that was waited for.
const (
	exitStopped  = 3
	exitTimedOut = 4
)

const (
	// eachWait is how long one call waits for a change of a run.
	eachWait = 30 * time.Second
	// patience is how long a server or a cluster may be away while a run is
	// followed: it may be rolled out anew meanwhile.
	patience = 5 * time.Minute
	// againEvery is how often what cannot be waited for is asked for again.
	againEvery = 2 * time.Second
)

// waiting are the flags of a command that waits for an end.
type waiting struct {
	wait    bool
	timeout time.Duration
}

func (o *waiting) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait for the end; exit code 0: succeeded, 1: failed, 3: stopped, 4: timed out")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "wait no longer than this (default: as long as it takes)")
}

// within gives the time for the waiting, and tells when it was too short.
func (o *waiting) within(ctx context.Context, what string, wait func(context.Context) error) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, o.timeout)
	}
	defer cancel()
	err := wait(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return ended{exitTimedOut, fmt.Errorf("%s has not ended within %s", what, o.timeout)}
	}
	return err
}

// ended ends the program with a code of its own, and a word to it.
type ended struct {
	code exit
	error
}

// Unwrap gives the code.
func (e ended) Unwrap() error { return e.code }

// endOf is the exit code of what has ended in a phase.
func endOf(phase string) error {
	switch phase {
	case "Succeeded":
		return nil
	case "Stopped":
		return exit(exitStopped)
	case "TimedOut":
		return exit(exitTimedOut)
	}
	return exit(exitFailed)
}

// follow asks for a run's state and waits for its changes, until it has ended.
func follow(ctx context.Context, on caller, run string, show func(json.RawMessage) error) (phase status.Phase, last json.RawMessage, err error) {
	request := map[string]any{"run": run}
	for {
		last, err = patiently(ctx, len(request) == 1, func() (json.RawMessage, error) {
			return on.do(ctx, call{name: "status", request: request})
		})
		if err != nil {
			return "", nil, err
		}
		var now struct {
			Phase           status.Phase `json:"phase"`
			ResourceVersion string       `json:"resourceVersion"`
		}
		if err := decodeAnswer(last, &now); err != nil {
			return "", nil, err
		}
		if err := show(last); err != nil {
			return "", nil, err
		}
		if now.Phase.Ended() {
			return now.Phase, last, nil
		}
		request["wait"], request["since"] = eachWait.String(), now.ResourceVersion
	}
}

// patiently calls again what fails for a while. What fails at the first time
// is told at once: an address may be wrong.
func patiently(ctx context.Context, first bool, do backoff.Operation[json.RawMessage]) (json.RawMessage, error) {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = 5 * time.Second
	return backoff.Retry(ctx, func() (json.RawMessage, error) {
		answer, err := do()
		if err != nil && (first || !fault.KindOf(err).Retryable()) {
			return nil, backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(patience))
}

// drawer shows how an answer changes: in its place on a terminal, else each
// time that it has.
type drawer struct {
	w      io.Writer
	format format
	table  table
	shown  string
}

func (d *drawer) draw(answer json.RawMessage) error {
	var text strings.Builder
	if err := d.format.of(d.w).show(&text, answer, d.table); err != nil {
		return err
	}
	if text.String() == d.shown {
		return nil
	}
	before := ""
	switch {
	case d.shown == "" || d.format.of(d.w) != "table":
	case isTerminal(d.w):
		before = fmt.Sprintf("\x1b[%dA\x1b[J", strings.Count(d.shown, "\n"))
	default:
		before = "\n"
	}
	d.shown = text.String()
	_, err := io.WriteString(d.w, before+d.shown)
	return err
}
