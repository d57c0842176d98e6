package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestStatusIsOnePerKind(t *testing.T) {
	seen := map[int]Kind{}
	for _, k := range Kinds {
		if other, taken := seen[k.Status()]; taken {
			t.Errorf("%s and %s both answer %d", k, other, k.Status())
		}
		seen[k.Status()] = k
	}
}

func TestFromKeepsFaultAndHidesOthers(t *testing.T) {
	conflict := New(Conflict, "run %s is taken", "a")
	if got := From(fmt.Errorf("submit: %w", conflict)); got != conflict {
		t.Errorf("From lost the fault: %v", got)
	}
	secret := errors.New("password=hunter2")
	if got := From(secret); got.Kind != Internal || got.Error() != "internal error" || !errors.Is(got, secret) {
		t.Errorf("From(%v) = %v", secret, got)
	}
	if From(nil) != nil || KindOf(nil) != "" {
		t.Error("nil is no fault")
	}
	if !errors.Is(Wrap(Unavailable, io.EOF, "the cluster is away"), io.EOF) {
		t.Error("Wrap lost its cause")
	}
}

func TestListTellsEveryMistakeInOrderOfPath(t *testing.T) {
	var l List
	if l.Err(Invalid, "the run") != nil {
		t.Error("an empty list is no error")
	}
	l.Add("tasks[1].id", "is taken")
	l.Add("id", "must start with a letter")
	want := "the run is not valid: id: must start with a letter; tasks[1].id: is taken"
	if got := l.Err(Invalid, "the run is not valid").Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
