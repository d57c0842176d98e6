package submit

import (
	"context"
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
)

// Ignored is the response where a push must not run.
type Ignored struct {
	Ignored hook.Reason `json:"ignored"`
}

// supersede submits a push's run and then stops the runs that it replaces. A
// push that came late does neither. Doing it again is harmless, and finishes
// what an outage has cut off.
func (s submitter) supersede(ctx context.Context, call function.Call, create func() (function.Response, error)) (function.Response, error) {
	runs, err := s.runsOfRef(ctx, call.Origin.RefLabel)
	if err != nil {
		return function.Response{}, err
	}
	if hook.Late(*call.Origin, runs) {
		return function.Response{Status: http.StatusOK, Body: Ignored{hook.IgnoredSuperseded}}, nil
	}
	response, err := create()
	if err != nil {
		return response, err
	}
	// Once more: another push may have come meanwhile, and our own is there now.
	if runs, err = s.runsOfRef(ctx, call.Origin.RefLabel); err != nil {
		return function.Response{}, err
	}
	for _, own := range runs {
		if own.Name != response.Body.(Response).Run {
			continue
		}
		for _, name := range hook.Superseded(own, runs) {
			request, err := json.Marshal(map[string]string{"run": name})
			if err != nil {
				return function.Response{}, err
			}
			if _, err := s.stop.Handle(ctx, function.Call{Caller: call.Caller, Body: request}); err != nil {
				return function.Response{}, err
			}
		}
	}
	return response, nil
}

// runsOfRef gives the runs of one route, host, repository and ref, without
// their helpers.
func (s submitter) runsOfRef(ctx context.Context, ref string) ([]hook.Run, error) {
	var runs []hook.Run
	err := s.cluster.EachWorkflow(ctx, argo.RefLabel+"="+ref+",!"+argo.ExtraOfLabel, func(w *metav1.PartialObjectMetadata) {
		r := hook.Run{Name: w.Name, Created: w.CreationTimestamp.Time, Ended: w.Labels[argo.CompletedLabel] == "true"}
		// What somebody has written over says nothing of its push.
		_ = json.Unmarshal([]byte(w.Annotations[argo.SourceAnnotation]), &r.Source)
		runs = append(runs, r)
	})
	return runs, err
}
