package function

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/runhook/runhook/pkg/fault"
)

// Table holds the functions by their names, and calls them within their time.
type Table struct {
	functions map[string]Function
	time      time.Duration
	observe   Observe
}

// Observe learns how each call ended: its HTTP status and how long it took.
type Observe func(name string, response Response, err error, took time.Duration)

// NewTable makes an empty table. Calls of functions that state no time of
// their own end after the one given; observe may be nil.
func NewTable(time time.Duration, observe Observe) *Table {
	return &Table{functions: map[string]Function{}, time: time, observe: observe}
}

// Add adds functions, before the table is used: a function may need the table
// itself, to call others.
func (t *Table) Add(functions ...Function) {
	for _, f := range functions {
		t.functions[f.Name] = f
	}
}

// Names lists the functions in alphabetical order.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.functions)) }

// Find gives a function by its name.
func (t *Table) Find(name string) (Function, bool) {
	f, ok := t.functions[name]
	return f, ok
}

// Time is how long a call of a function may take.
func (t *Table) Time(name string) time.Duration {
	if own := t.functions[name].Timeout; own > 0 {
		return own
	}
	return t.time
}

// Invoke calls a function. A panic in it is an Internal fault that keeps the
// stack as its cause, and a call that its time cut may be tried again.
func (t *Table) Invoke(ctx context.Context, name string, call Call) (Response, error) {
	f, ok := t.functions[name]
	if !ok {
		return Response{}, fault.New(fault.NotFound, "there is no such function; there are %v", t.Names())
	}
	ctx, cancel := context.WithTimeout(ctx, t.Time(name))
	defer cancel()
	start := time.Now()
	response, err := handle(ctx, f, call)
	if err != nil && ctx.Err() != nil && fault.KindOf(err) == fault.Internal {
		err = fault.Wrap(fault.Unavailable, err, "%s did not end within %s", name, t.Time(name))
	}
	if t.observe != nil {
		t.observe(name, response, err, time.Since(start))
	}
	return response, err
}

func handle(ctx context.Context, f Function, call Call) (response Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			response, err = Response{}, fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", p, debug.Stack()), "internal error")
		}
	}()
	return f.Handle(ctx, call)
}
