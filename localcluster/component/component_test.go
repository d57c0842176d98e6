package component

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/progress"
)

func names(all []Component) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name)
	}
	return out
}

// whole has all that is asked for only.
var whole = &Cluster{Gitea: binaries.Gitea{Dir: "/gitea"}}

func TestAllCanBeOrdered(t *testing.T) {
	sorted, err := Sort(whole.All())
	if err != nil {
		t.Fatal(err)
	}
	order := names(sorted)
	for _, c := range sorted {
		for _, need := range c.Needs {
			if slices.Index(order, need) > slices.Index(order, c.Name) {
				t.Errorf("%s comes before %s, which it needs", c.Name, need)
			}
		}
		if c.Start == nil || c.Ready == nil || c.Patience == 0 {
			t.Errorf("%s is not whole", c.Name)
		}
	}
	if len(sorted) != len(whole.All()) {
		t.Errorf("%d of %d were ordered", len(sorted), len(whole.All()))
	}
}

func TestGiteaIsThereForWhoAsks(t *testing.T) {
	plain := names((&Cluster{}).All())
	extra := slices.DeleteFunc(names(whole.All()), func(name string) bool { return slices.Contains(plain, name) })
	if want := []string{"gitea", "gitea-user"}; !slices.Equal(extra, want) {
		t.Errorf("asked for beside all: %v, want %v", extra, want)
	}
}

func TestSortRefuses(t *testing.T) {
	for want, all := range map[string][]Component{
		"a needs b, which does not exist":         {{Name: "a", Needs: []string{"b"}}},
		"a needs itself, by way of what it needs": {{Name: "a", Needs: []string{"b"}}, {Name: "b", Needs: []string{"a"}}},
		"two components are named a":              {{Name: "a"}, {Name: "a"}},
	} {
		if _, err := Sort(all); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// cluster is one whose state is in a folder of the test's.
func cluster(t *testing.T) *Cluster {
	t.Helper()
	dir := t.TempDir()
	return &Cluster{Home: layout.Home{Dir: dir, Checkout: dir}, PKI: "/pki", Program: Program{Path: "/bin/true", Hash: "h"}}
}

// recorder makes components that write down when they start.
type recorder struct {
	mu      sync.Mutex
	started []string
}

func (r *recorder) component(name string, ready func() error, needs ...string) Component {
	return Component{
		Name: name, Needs: needs, Patience: time.Minute,
		Start: func(context.Context, *Cluster) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.started = append(r.started, name)
			return nil
		},
		Ready: func(context.Context, *Cluster) error { return ready() },
	}
}

func yes() error { return nil }

func quietly() *progress.Printer { return progress.New(&bytes.Buffer{}, time.Now()) }

func TestUpStartsEachAfterItsNeedsAreReady(t *testing.T) {
	var r recorder
	tries := 0
	slowly := func() error { // ready at the third look
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	afterSlow := func() error {
		if tries < 3 {
			t.Error("c started before b was ready")
		}
		return nil
	}
	all := []Component{r.component("c", afterSlow, "b"), r.component("b", slowly, "a"), r.component("a", yes)}
	if err := Up(context.Background(), cluster(t), all, quietly()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.started, " "); got != "a b c" {
		t.Errorf("started %s", got)
	}
}

func TestUpStopsAtAFailureAndNamesTheLog(t *testing.T) {
	var r recorder
	broken := r.component("broken", yes)
	broken.Start = func(context.Context, *Cluster) error { return errors.New("no disk") }
	c := cluster(t)
	err := Up(context.Background(), c, []Component{broken, r.component("after", yes, "broken")}, quietly())
	if want := "broken does not start: no disk; see " + c.Home.Log("broken"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(r.started) != 0 {
		t.Errorf("%v started all the same", r.started)
	}
	if log, err := os.ReadFile(c.Home.Log("broken")); err != nil || !strings.Contains(string(log), "no disk") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func TestUpLosesPatience(t *testing.T) {
	var r recorder
	never := r.component("never", func() error { return errors.New("it sleeps") })
	never.Patience = time.Millisecond
	explained := false
	never.Explain = func(context.Context, *Cluster) error { explained = true; return nil }
	c := cluster(t)
	err := Up(context.Background(), c, []Component{never}, quietly())
	if want := "never is not ready after 1ms: it sleeps; see " + c.Home.Log("never"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !explained {
		t.Error("it was not asked to explain")
	}
}

func TestUpStartsOnceMoreWhatWasDying(t *testing.T) {
	for deaths, want := range map[int]string{1: "", 2: "dying does not run: its process ended"} {
		var r recorder
		left := deaths
		dying := r.component("dying", func() error {
			if left--; left >= 0 {
				return &endedError{"dying"}
			}
			return nil
		})
		err := Up(context.Background(), cluster(t), []Component{dying}, quietly())
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("after %d deaths: %v", deaths, err)
		}
		if len(r.started) != 2 {
			t.Errorf("after %d deaths it was started %d times", deaths, len(r.started))
		}
	}
}
