package stream

import (
	"net/url"
	"slices"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/status"
)

// Filter says which events a reader wants; an empty list: all.
type Filter struct {
	Runs, Types []string
	Phases      []string // of runs and tasks, and of builds
}

// ReadFilter reads a query: `run`, `type` and `phase`, each any number of times.
func ReadFilter(query url.Values) (Filter, error) {
	var f Filter
	var mistakes fault.List
	for key, values := range query {
		switch key {
		case "run":
			f.Runs = values
		case "type":
			f.Types = values
			for _, value := range values {
				if !slices.Contains(event.Types(), value) {
					mistakes.Add("type", "%q is not a type of event, as in runhook.run.failed.v1", value[:min(len(value), 100)])
				}
			}
		case "phase":
			for _, value := range values {
				if !slices.Contains(status.Phases, status.Phase(value)) && !slices.Contains(image.Phases, image.Phase(value)) {
					mistakes.Add("phase", "%q is not a phase, as in Preempted", value[:min(len(value), 100)])
				}
				f.Phases = append(f.Phases, value)
			}
		default:
			mistakes.Add(key[:min(len(key), 100)], "not a filter: there are run, type and phase")
		}
	}
	return f, mistakes.Err(fault.Invalid, "the query is not valid")
}

// wants reports whether an event passes. An attempt and a build have the phase
// that their data says.
func (f Filter) wants(e event.Event) bool {
	phase := string(e.Phase)
	switch {
	case e.Attempt != nil:
		phase = string(e.Attempt.Phase)
	case e.Build != nil:
		phase = string(e.Build.Phase)
	}
	return (len(f.Runs) == 0 || slices.Contains(f.Runs, e.RunOf())) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, e.Type())) &&
		(len(f.Phases) == 0 || slices.Contains(f.Phases, phase))
}
