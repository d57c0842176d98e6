package evidence

import (
	"context"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/status"
)

// written is a Workflow that others write on too.
type written struct {
	uid, version string
	annotations  map[string]string
	writes       int
}

func (w *written) WorkflowMetadata(context.Context, string) (*metav1.PartialObjectMetadata, error) {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(w.uid), ResourceVersion: w.version, Annotations: w.annotations}}, nil
}

func (w *written) Annotate(_ context.Context, _, version, key, value string) error {
	if version != w.version {
		return fault.New(fault.Conflict, "changed")
	}
	w.writes++
	w.version += "+"
	w.annotations = maps.Clone(w.annotations)
	if w.annotations == nil {
		w.annotations = map[string]string{}
	}
	w.annotations[key] = value
	return nil
}

func entry(uid string) cause.Entry {
	return cause.Entry{UID: uid, Node: "a-1", Created: time.Unix(1, 0).UTC(), Reason: "Evicted"}
}

func adding(uid string) Join {
	return func(known *cause.Evidence) (bool, error) { return known.Add(entry(uid)), nil }
}

func keep(t *testing.T, on *written, read status.Metadata, join Join) (Kept, error) {
	t.Helper()
	return Keep(t.Context(), on, read, join)
}

func TestWhatWasWrittenInBetweenStays(t *testing.T) {
	on := &written{uid: "w", version: "1", annotations: map[string]string{"other": "x"}}
	old := status.Metadata{Name: "a", UID: "w", ResourceVersion: "1", Annotations: on.annotations}
	for _, uid := range []string{"first", "second", "second"} { // each has read it before the first wrote
		if _, err := keep(t, on, old, adding(uid)); err != nil {
			t.Fatal(err)
		}
	}
	known, err := cause.Decode(on.annotations[cause.Annotation])
	if err != nil {
		t.Fatal(err)
	}
	if len(known.Entries()) != 2 || on.writes != 2 || on.annotations["other"] != "x" {
		t.Errorf("%d writes, %v", on.writes, known.Entries())
	}
}

func TestWhatCannotBeReadIsWrittenOver(t *testing.T) {
	on := &written{uid: "w", version: "1"}
	broken := &status.Workflow{Metadata: status.Metadata{Name: "a", UID: "w", ResourceVersion: "1", Annotations: map[string]string{cause.Annotation: "?"}}}
	kept, err := keep(t, on, broken.Metadata, adding("first"))
	if err != nil {
		t.Fatal(err)
	}
	if got := kept.On(broken).Metadata.Annotations[cause.Annotation]; got != on.annotations[cause.Annotation] || got == "?" {
		t.Errorf("%q", got)
	}
	if broken.Metadata.Annotations[cause.Annotation] != "?" {
		t.Error("what others read was changed")
	}
}

// A refusal is no conflict of versions, and another Workflow of the name is not
// written on.
func TestWhatIsNotTriedAgain(t *testing.T) {
	on := &written{uid: "w", version: "2"}
	read := status.Metadata{Name: "a", UID: "w", ResourceVersion: "1"}
	asked := 0
	_, err := keep(t, on, read, func(*cause.Evidence) (bool, error) {
		asked++
		return false, fault.New(fault.Conflict, "contradicted")
	})
	if fault.KindOf(err) != fault.Conflict || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	on.uid = "another"
	if _, err := keep(t, on, read, adding("first")); fault.KindOf(err) != fault.NotFound || on.writes > 0 {
		t.Errorf("%d writes: %v", on.writes, err)
	}
}
