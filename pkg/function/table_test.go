package function

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
)

func TestTable(t *testing.T) {
	var observed []string
	table := NewTable(time.Minute, func(name string, response Response, err error, _ time.Duration) {
		observed = append(observed, name+" "+string(fault.KindOf(err)))
	})
	handler := func(response Response, err error) func(context.Context, Call) (Response, error) {
		return func(context.Context, Call) (Response, error) { return response, err }
	}
	table.Add(
		Function{Name: "works", Handle: handler(Response{Status: 201, Body: "x"}, nil)},
		Function{Name: "refuses", Handle: handler(Response{}, fault.New(fault.Conflict, "taken"))},
		Function{Name: "panics", Handle: func(context.Context, Call) (Response, error) { panic("oh") }},
		Function{Name: "slow", Timeout: time.Nanosecond, Handle: func(ctx context.Context, _ Call) (Response, error) {
			<-ctx.Done()
			return Response{}, ctx.Err()
		}},
		Function{Name: "slow-and-says-so", Timeout: time.Nanosecond, Handle: func(ctx context.Context, _ Call) (Response, error) {
			<-ctx.Done()
			return Response{}, fault.New(fault.NotFound, "no such run")
		}},
	)
	for name, want := range map[string]fault.Kind{
		"works": "", "refuses": fault.Conflict, "panics": fault.Internal, "slow": fault.Unavailable,
		"slow-and-says-so": fault.NotFound, "nothing": fault.NotFound,
	} {
		observed = nil
		response, err := table.Invoke(context.Background(), name, Call{})
		if fault.KindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		if name == "works" && response.Status != 201 {
			t.Errorf("%+v", response)
		}
		if name != "nothing" {
			if diff := cmp.Diff([]string{name + " " + string(want)}, observed); diff != "" {
				t.Error(diff)
			}
		}
	}
	_, err := table.Invoke(context.Background(), "panics", Call{})
	if strings.Contains(err.Error(), "oh") || !strings.Contains(errors.Unwrap(err).Error(), "oh") {
		t.Errorf("the panic belongs to the cause, not to the answer: %v", err)
	}
	if diff := cmp.Diff([]string{"panics", "refuses", "slow", "slow-and-says-so", "works"}, table.Names()); diff != "" {
		t.Error(diff)
	}
	if table.Time("works") != time.Minute || table.Time("slow") != time.Nanosecond {
		t.Error("a function's own time comes first")
	}
}
