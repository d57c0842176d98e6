// Package progress tells people what is happening and how long it has taken.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// interval is how often a long step says that it still runs.
const interval = 10 * time.Second

// Printer writes one line per step, with the seconds since it was made.
type Printer struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

// New makes a printer that counts from start.
func New(out io.Writer, start time.Time) *Printer { return &Printer{out: out, start: start} }

// Start is when counting began.
func (p *Printer) Start() time.Time { return p.start }

// Line writes one line.
func (p *Printer) Line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%7.1fs  %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}

// During announces a step, runs it and repeats every few seconds that it still runs.
func (p *Printer) During(step string, f func() error) error {
	p.Line("%s", step)
	done := make(chan error, 1)
	begin := time.Now()
	go func() { done <- f() }()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			p.Line("%s: still at it after %.0f s", step, time.Since(begin).Seconds())
		}
	}
}
