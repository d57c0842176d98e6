package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// status is the part of the answer that the table shows.
type status struct {
	Phase string          `json:"phase"`
	Tasks map[string]task `json:"tasks"`
	raw   json.RawMessage
}

type task struct {
	Phase   string `json:"phase"`
	Done    int    `json:"done"`
	Of      int    `json:"of"`
	Waiting *struct {
		Reason string `json:"reason"`
		Detail string `json:"detail"`
	} `json:"waiting"`
}

func (s status) ended() bool {
	return slices.Contains([]string{"Succeeded", "Failed", "Stopped"}, s.Phase)
}

func (s status) pretty() string {
	var out bytes.Buffer
	if err := json.Indent(&out, s.raw, "  ", "  "); err != nil {
		return string(s.raw)
	}
	return "  " + out.String()
}

// table shows where each task stands.
func (s status) table(run string) string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "  TASK\tPHASE\tDETAIL\n  %s\t%s\t\n", run, s.Phase)
	names := make([]string, 0, len(s.Tasks))
	for name := range s.Tasks {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t := s.Tasks[name]
		detail := ""
		if t.Of > 0 {
			detail = fmt.Sprintf("%d of %d done", t.Done, t.Of)
		}
		if t.Waiting != nil {
			detail = t.Waiting.Reason
		}
		fmt.Fprintf(w, "  %s%s\t%s\t%s\n", strings.Repeat("  ", strings.Count(name, ".")+1), name, t.Phase, detail)
	}
	w.Flush()
	return out.String()
}

// follow draws the table until the run has ended: again in its place on a
// terminal, else each time that it has changed.
func (s site) follow(ctx context.Context, run string) (status, error) {
	terminal := isTerminal(os.Stdout)
	shown := ""
	for {
		now, err := s.status(ctx, run)
		if err != nil {
			return now, err
		}
		if table := now.table(run); table != shown {
			if terminal && shown != "" {
				fmt.Printf("\x1b[%dA\x1b[J", strings.Count(shown, "\n"))
			}
			fmt.Print(table)
			if !terminal {
				fmt.Println()
			}
			shown = table
		}
		if now.ended() {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, fmt.Errorf("the run %s is still %s: %w", run, now.Phase, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
