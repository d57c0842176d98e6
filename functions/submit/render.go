package submit

import (
	"encoding/json"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
)

// render makes the Workflow, with what it must remember of this call.
func (s submitter) render(call function.Call, asked *run.Run, key string) (*wfv1.Workflow, error) {
	options := s.settings.Options
	options.Key, options.Caller = key, call.Caller.Name
	if call.Origin != nil {
		source, err := json.Marshal(call.Origin)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "the run's source cannot be written")
		}
		options.Source, options.RefHash = string(source), call.Origin.RefLabel
	}
	return argo.Render(asked.Fill(s.settings.Policy), options)
}
