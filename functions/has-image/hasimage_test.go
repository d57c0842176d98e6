package hasimage

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
)

var lab = image.Registry{Host: "reg.lab:5000", Auth: "registry-auth"}

// answer is a registry that knows one answer.
type answer struct {
	digest string
	err    error
	asked  int
}

func (a *answer) Digest(context.Context, image.Reference) (string, bool, error) {
	a.asked++
	return a.digest, a.digest != "", a.err
}

func TestHasImage(t *testing.T) {
	for digest, want := range map[string]string{
		"sha256:11": `{"ref":"reg.lab:5000/acme/pump","exists":true,"digest":"sha256:11"}`,
		"":          `{"ref":"reg.lab:5000/acme/pump","exists":false,"digest":""}`,
	} {
		got, err := New(&answer{digest: digest}, lab).Handle(t.Context(), function.Call{Body: json.RawMessage(`{"ref":"reg.lab:5000/acme/pump"}`)})
		if err != nil || got.Status != http.StatusOK {
			t.Fatalf("%d %v", got.Status, err)
		}
		body, err := json.Marshal(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(body)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRefusedBeforeAnythingIsAsked(t *testing.T) {
	for body, kind := range map[string]fault.Kind{
		`{"ref":"docker.io/acme/pump"}`: fault.Invalid,
		`{"ref":"reg.lab:5000/../x"}`:   fault.Invalid,
		`{}`:                            fault.Invalid,
		`{"ref":"reg.lab:5000/x","timeout":"1s"}`: fault.Invalid,
		`{"ref":7}`: fault.Invalid,
		`ref`:       fault.Malformed,
	} {
		registry := &answer{}
		f := New(registry, lab)
		_, err := f.Handle(t.Context(), function.Call{Body: json.RawMessage(body)})
		if fault.KindOf(err) != kind || registry.asked != 0 {
			t.Errorf("%s: %v, and the registry was asked %d times", body, err, registry.asked)
		}
		if checked := f.Check(json.RawMessage(body)); fault.KindOf(checked) != kind {
			t.Errorf("%s: checked without the cluster it is %v", body, checked)
		}
	}
	_, err := New(&answer{}, lab).Handle(t.Context(), function.Call{Body: json.RawMessage(`{"ref":"pump"}`)})
	if problems := fault.From(err).Problems; len(problems) != 1 || problems[0].Path != "ref" {
		t.Errorf("the path is missing: %v", problems)
	}
}

func TestNeitherYesNorNo(t *testing.T) {
	said := fault.New(fault.BadUpstream, "the registry answered 500")
	_, err := New(&answer{err: said}, lab).Handle(t.Context(), function.Call{Body: json.RawMessage(`{"ref":"reg.lab:5000/x"}`)})
	if fault.From(err) != said {
		t.Errorf("got %v", err)
	}
}

func TestAccessIsTheOneSecret(t *testing.T) {
	want := []function.Access{{Resource: "secrets", Verbs: []string{"get"}, Names: []string{"registry-auth"}}}
	if diff := cmp.Diff(want, New(nil, lab).Access); diff != "" {
		t.Error(diff)
	}
	if got := New(nil, image.Registry{Host: "reg.lab"}).Access; got != nil {
		t.Errorf("a registry without a Secret needs %v", got)
	}
}
