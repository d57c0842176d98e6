package hook_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
)

// source reads an annotation runhook/source.
func source(t *testing.T, annotation string) function.Origin {
	t.Helper()
	var origin function.Origin
	if err := json.Unmarshal([]byte(annotation), &origin); err != nil {
		t.Fatal(err)
	}
	return origin
}

func TestLate(t *testing.T) {
	for name, tc := range map[string]struct {
		push string
		runs []string
		want bool
	}{
		"alone":                        {`{"route":"a/b","sha":"b"}`, nil, false},
		"after an older push":          {`{"route":"a/b","sha":"b","before":"a"}`, []string{`{"route":"a/b","sha":"a"}`}, false},
		"redelivered after the next":   {`{"route":"a/b","sha":"a"}`, []string{`{"route":"a/b","sha":"b","before":"a"}`}, true},
		"an older commit":              {`{"route":"a/b","sha":"a","committed":"2026-01-01T10:00:00Z"}`, []string{`{"route":"a/b","sha":"c","before":"b","committed":"2026-01-01T10:00:01Z"}`}, true},
		"an older commit by its zone":  {`{"route":"a/b","sha":"a","committed":"2026-01-01T12:00:00+02:00"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T10:30:00Z"}`}, true},
		"a younger commit":             {`{"route":"a/b","sha":"a","committed":"2026-01-01T10:00:01Z"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T10:00:00Z"}`}, false},
		"the same second":              {`{"route":"a/b","sha":"a","committed":"2026-01-01T10:00:00Z"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T10:00:00Z"}`}, false},
		"delivered again":              {`{"route":"a/b","sha":"a","committed":"2026-01-01T10:00:00Z"}`, []string{`{"route":"a/b","sha":"a","committed":"2026-01-01T10:00:00Z"}`}, false},
		"no times":                     {`{"route":"a/b","sha":"a"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T10:00:00Z"}`}, false},
		"a time that is none":          {`{"route":"a/b","sha":"a","committed":"noon"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T10:00:00Z"}`}, false},
		"no sha and no before":         {`{"route":"a/b"}`, []string{`{"route":"a/b"}`}, false},
		"forced back in time":          {`{"route":"a/b","sha":"a","forced":true,"committed":"2026-01-01T10:00:00Z"}`, []string{`{"route":"a/b","sha":"c","committed":"2026-01-01T11:00:00Z"}`}, false},
		"forced back in history":       {`{"route":"a/b","sha":"a","forced":true}`, []string{`{"route":"a/b","sha":"b","before":"a"}`}, false},
		"forced, then forced away":     {`{"route":"a/b","sha":"a","forced":true}`, []string{`{"route":"a/b","sha":"b","before":"a","forced":true}`}, true},
		"plain, then forced away":      {`{"route":"a/b","sha":"a"}`, []string{`{"route":"a/b","sha":"b","before":"a","forced":true}`}, true},
		"one of several proves it":     {`{"route":"a/b","sha":"a"}`, []string{`{"route":"a/b","sha":"z"}`, `{"route":"a/b","sha":"b","before":"a"}`}, true},
		"an annotation without fields": {`{"route":"a/b","sha":"a"}`, []string{`{}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []hook.Run
			for _, annotation := range tc.runs {
				// That a run has ended takes nothing from what it proves.
				runs = append(runs, hook.Run{Name: "r", Ended: true, Source: source(t, annotation)})
			}
			if got := hook.Late(source(t, tc.push), runs); got != tc.want {
				t.Errorf("late: %v", got)
			}
		})
	}
}

func TestSuperseded(t *testing.T) {
	own := hook.Run{Name: "own", Created: noon, Source: function.Origin{SHA: "b", Before: "a"}}
	got := hook.Superseded(own, []hook.Run{
		{Name: "old", Created: noon.Add(-time.Hour)},
		{Name: "ended", Created: noon.Add(-time.Hour), Ended: true},
		own,
		{Name: "same-second", Created: noon},
		{Name: "same-second, follows", Created: noon, Source: function.Origin{SHA: "c", Before: "b"}},
		{Name: "younger", Created: noon.Add(time.Second)},
	})
	if diff := cmp.Diff([]string{"old", "same-second"}, got); diff != "" {
		t.Error(diff)
	}
	if got := hook.Superseded(own, nil); len(got) != 0 {
		t.Errorf("stops %v", got)
	}
}
