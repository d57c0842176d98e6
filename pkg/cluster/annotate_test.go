package cluster

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
)

func TestAnAnnotationIsSetUnderItsVersion(t *testing.T) {
	var patch struct {
		Metadata struct {
			ResourceVersion string
			Annotations     map[string]string
		}
	}
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch || r.URL.Path != "/apis/argoproj.io/v1alpha1/namespaces/runs/workflows/a" ||
			r.Header.Get("Content-Type") != "application/merge-patch+json" || r.Header.Get("Accept") != objectMetadata {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`))
	})
	if err := c.Annotate(t.Context(), "a", "7", "runhook/x", "y"); err != nil {
		t.Fatal(err)
	}
	if patch.Metadata.ResourceVersion != "7" || len(patch.Metadata.Annotations) != 1 || patch.Metadata.Annotations["runhook/x"] != "y" {
		t.Errorf("%+v", patch)
	}
}

// Who writes tries again after a conflict: what would be refused again is none.
func TestOnlyAConflictOfVersionsIsOne(t *testing.T) {
	for reason, c := range map[string]struct {
		code int
		want fault.Kind
	}{
		"Conflict":  {http.StatusConflict, fault.Conflict},
		"Forbidden": {http.StatusForbidden, fault.Unavailable},
		"NotFound":  {http.StatusNotFound, fault.NotFound},
		"Invalid":   {http.StatusUnprocessableEntity, fault.Invalid},
	} {
		on := connected(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, c.code, reason, "no") })
		if err := on.Annotate(t.Context(), "a", "7", "runhook/x", "y"); fault.KindOf(err) != c.want {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
