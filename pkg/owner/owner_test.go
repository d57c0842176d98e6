package owner

import (
	"testing"

	"github.com/runhook/runhook/pkg/function"
)

func TestWhoMaySeeAndChange(t *testing.T) {
	ours := func(caller string) Run {
		return Run{Labels: map[string]string{RunLabel: "a", ManagedBy: "gordo"}, Annotations: map[string]string{Annotation: caller}}
	}
	foreign := Run{Annotations: map[string]string{Annotation: "ci"}} // an annotation anybody can write
	ci := function.Caller{Name: "ci"}
	all := function.Caller{Name: "ops", AllRuns: true}
	hook := function.Caller{Name: "hook:acme/train", Everything: true}
	for name, tc := range map[string]struct {
		caller      function.Caller
		run         Run
		foreign     Foreign
		see, change bool
	}{
		"own":                     {ci, ours("ci"), ForeignRead, true, true},
		"another's":               {ci, ours("cd"), ForeignRead, false, false},
		"another's, all":          {all, ours("cd"), ForeignRead, true, true},
		"another's, a hook":       {hook, ours("cd"), ForeignRead, true, true},
		"nobody's":                {function.Caller{}, ours(""), ForeignRead, false, false},
		"foreign, own only":       {ci, foreign, ForeignAll, false, false},
		"foreign, all, none":      {all, foreign, ForeignNone, false, false},
		"foreign, all, read":      {all, foreign, ForeignRead, true, false},
		"foreign, all, all":       {all, foreign, ForeignAll, true, true},
		"no annotation, own only": {ci, Run{Labels: map[string]string{RunLabel: "a"}}, ForeignAll, false, false},
		"no run's":                {ci, Run{Labels: map[string]string{ManagedBy: Name}, Annotations: map[string]string{Annotation: "ci"}}, ForeignAll, false, false},
	} {
		if see, change := MaySee(tc.caller, tc.run, tc.foreign), MayChange(tc.caller, tc.run, tc.foreign); see != tc.see || change != tc.change {
			t.Errorf("%s: see %t, change %t; want %t, %t", name, see, change, tc.see, tc.change)
		}
	}
}
