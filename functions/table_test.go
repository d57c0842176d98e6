package functions

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

func table(t *testing.T) *Table {
	t.Helper()
	c := config.Default()
	c.Namespace = "runs"
	made, err := New(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestEveryFunctionIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range table(t).All() {
		if f.Name == "" || f.Summary == "" || f.Handle == nil || f.Request == nil || f.Response == nil {
			t.Errorf("%q lacks something", f.Name)
		}
		if seen[f.Name] {
			t.Errorf("%s stands twice", f.Name)
		}
		seen[f.Name] = true
		if kind := reflect.TypeOf(f.Request).Kind(); kind != reflect.Struct {
			t.Errorf("%s takes a %s; its request must be an object", f.Name, kind)
		}
	}
}

// A function that does what it was asked only to try would surprise people.
func TestADryRunIsObeyedOrRefused(t *testing.T) {
	made := table(t)
	for _, f := range made.All() {
		if f.DryRuns {
			continue
		}
		_, err := made.Invoke(context.Background(), f.Name, function.Call{DryRun: true, Body: json.RawMessage(`{}`)})
		if got := fault.From(err); got == nil || got.Kind != fault.Invalid || len(got.Problems) != 1 || got.Problems[0].Path != "dryRun" {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestUnknownFunctions(t *testing.T) {
	made := table(t)
	if err := made.checkShape("nothing", json.RawMessage(`{}`)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an unknown function: %v", err)
	}
	if _, err := made.Invoke(context.Background(), "nothing", function.Call{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown function: %v", err)
	}
}

// The config that has every key names functions that there are.
func TestTheCompleteConfigPasses(t *testing.T) {
	secrets := func(name string) string { return "the secret " + name }
	c, err := config.Load("../pkg/config/testdata/full.yaml", secrets)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(c, nil); err != nil {
		t.Error(err)
	}
}
