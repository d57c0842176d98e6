package cluster

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
)

func TestJobIsResumedOnlyIfItIsTheOne(t *testing.T) {
	var got string
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Content-Type"), " ", string(body))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"build-1","uid":"u1"},"spec":{"suspend":false}}`)
	})
	job, err := c.ResumeJob(t.Context(), "build-1", "u1")
	if err != nil || job.UID != "u1" || *job.Spec.Suspend {
		t.Errorf("%+v %v", job, err)
	}
	want := `PATCH /apis/batch/v1/namespaces/runs/jobs/build-1 application/merge-patch+json {"metadata":{"uid":"u1"},"spec":{"suspend":false}}`
	if got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
}

func TestLogTailAsksForTheEndAndForALimit(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		fmt.Fprint(w, r.URL.Path, " ", query.Get("tailLines"), " ", query.Get("limitBytes"))
	})
	log, err := c.LogTail(t.Context(), "build-1-x", 50)
	if want := "/api/v1/namespaces/runs/pods/build-1-x/log 50 1048576"; err != nil || string(log) != want {
		t.Errorf("%s %v, want %s", log, err, want)
	}
}

func TestBuildCallsSayWhatIsTakenAndWhatIsNotThere(t *testing.T) {
	reasons := map[string]fault.Kind{"AlreadyExists": fault.Conflict, "NotFound": fault.NotFound, "Forbidden": fault.Conflict, "InternalError": fault.Unavailable}
	codes := map[string]int{"AlreadyExists": 409, "NotFound": 404, "Forbidden": 403, "InternalError": 500}
	for reason, kind := range reasons {
		c := connected(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, codes[reason], reason, "so") })
		_, job := c.Job(t.Context(), "a")
		_, object := c.ConfigMap(t.Context(), "a")
		_, secret := c.Secret(t.Context(), "a")
		create := c.CreateConfigMap(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		if got := slices.Compact([]fault.Kind{fault.KindOf(job), fault.KindOf(object), fault.KindOf(secret), fault.KindOf(create)}); !slices.Equal(got, []fault.Kind{kind}) {
			t.Errorf("%s: %v, want %s", reason, got, kind)
		}
	}
}
