package submit

import (
	"context"
	"encoding/json"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
)

// built asks the registry whether the image that a run's first task would
// build is there: then the task is left out.
func (s submitter) built(ctx context.Context, build *run.Build) (bool, error) {
	if build == nil {
		return false, nil
	}
	ref, err := s.settings.Policy.Registry.Parse(build.Ref)
	if err != nil {
		return false, err
	}
	_, exists, err := s.images.Digest(ctx, ref)
	return exists, err
}

// render makes the Workflow, with what it must remember of this call.
func (s submitter) render(call function.Call, asked *run.Run, key string, built bool) (*wfv1.Workflow, error) {
	options := s.settings.Options
	options.Key, options.Caller, options.ImageExists = key, call.Caller.Name, built
	if call.Origin != nil {
		source, err := json.Marshal(call.Origin)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "the run's source cannot be written")
		}
		options.Source, options.RefHash = string(source), call.Origin.RefLabel
	}
	return argo.Render(asked.Fill(s.settings.Policy), options)
}
