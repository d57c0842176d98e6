package generate

import (
	"context"
	"encoding/json"
	"net/http"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/create"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/workflow"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/run"
)

// submission is a project that is to be submitted.
type submission struct {
	request Request
	project *gordo.Project
	plan    *workflow.Plan
}

// submit creates the Workflows one after another, and then ends those of older
// revisions. Doing it again is harmless, and finishes what an outage has cut off.
func (g generator) submit(ctx context.Context, call function.Call, s submission) ([]Run, int, error) {
	revision, err := g.acceptable(call.Caller, s)
	if err != nil {
		return nil, 0, err
	}
	if _, err := g.workflows(ctx, call.Caller, s.project.Name); err != nil {
		return nil, 0, err
	}
	key, err := keyOf(call, s)
	if err != nil {
		return nil, 0, err
	}
	runs, status := []Run{}, http.StatusOK
	for document, err := range s.plan.Documents() {
		if err != nil {
			return nil, 0, err
		}
		w, err := document.Submitted()
		if err != nil {
			return nil, 0, err
		}
		if err := g.mark(w, call, key); err != nil {
			return nil, 0, err
		}
		_, present, err := create.Once(ctx, g.cluster, w, call.DryRun)
		if err != nil {
			return nil, 0, err
		}
		isNew := present == nil && !call.DryRun
		if isNew {
			status = http.StatusCreated
		}
		runs = append(runs, Run{w.Name, isNew})
	}
	if call.DryRun || len(runs) == 0 {
		return runs, status, nil
	}
	return runs, status, g.endOlder(ctx, call.Caller, s.project.Name, revision)
}

// acceptable goes over all Workflows before the first is created: a project
// that is refused has changed nothing.
func (g generator) acceptable(caller function.Caller, s submission) (revision string, err error) {
	first := true
	for document, err := range s.plan.Documents() {
		if err != nil {
			return "", err
		}
		w, err := document.Submitted()
		if err != nil {
			return "", err
		}
		if first {
			if err := g.mayRun(caller, s.project, w); err != nil {
				return "", err
			}
		}
		first, revision = false, w.Labels[gordo.LabelRevision]
	}
	return revision, nil
}

// keyOf guards the names: the caller's own key, else the hash of what is asked
// for, however it was written. A delivery's key is its commit, and a commit that
// leaves the config as it was asks for nothing new.
func keyOf(call function.Call, s submission) (string, error) {
	if call.Key != "" && call.Origin == nil {
		return run.ScopedKey(call.Caller.Name, call.Key), nil
	}
	project, err := json.Marshal(s.project)
	if err != nil {
		return "", err
	}
	options, err := json.Marshal(s.request.Options)
	return run.ScopedKey(call.Caller.Name, run.Hash("generate", string(project), s.request.Revision, string(options))), err
}

// account is the ServiceAccount of a project's pods, whose rights are those
// that applying and deleting need.
const account = "gordo"

// needToken are the templates whose script speaks to the API server.
var needToken = map[string]bool{"ensure-single-workflow": true, "gordo-client-waiter": true}

// mark makes a run of a Workflow. Its managed-by stays gordo's.
func (g generator) mark(w *wfv1.Workflow, call function.Call, key string) error {
	w.Namespace = g.settings.Namespace
	w.Labels[owner.RunLabel] = w.Name
	w.Annotations[owner.Annotation] = call.Caller.Name
	w.Annotations[argo.KeyAnnotation] = key
	if call.Origin != nil {
		source, err := json.Marshal(call.Origin)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "the run's source cannot be written")
		}
		w.Annotations[argo.SourceAnnotation] = string(source)
	}
	w.Spec.PodMetadata = &wfv1.Metadata{Labels: map[string]string{owner.RunLabel: w.Name}}
	if g.settings.PodLabel != "" {
		w.Spec.PodMetadata.Labels[g.settings.PodLabel] = w.Name
	}
	w.Spec.ImagePullSecrets = g.settings.ImagePullSecrets
	w.Spec.ServiceAccountName = account
	w.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: account}
	for i := range w.Spec.Templates {
		// What runs a user's classes has no right on the cluster: of its pod
		// the executor alone gets a token.
		if t := &w.Spec.Templates[i]; (t.Container != nil || t.Script != nil) && !needToken[t.Name] {
			t.AutomountServiceAccountToken = new(false)
		}
	}
	return nil
}

// workflows gives a project's Workflows. A project that somebody else has is
// refused: its Workflows and servers would be deleted by the first and the last
// step of the new one.
func (g generator) workflows(ctx context.Context, caller function.Caller, project string) ([]made, error) {
	var all []made
	var conflict error
	err := g.cluster.EachWorkflow(ctx, gordo.LabelProject+"="+project, func(w *metav1.PartialObjectMetadata) {
		m := made{w.Name, w.Labels[gordo.LabelRevision], w.CreationTimestamp.Time, w.Labels[argo.CompletedLabel] == "true"}
		all = append(all, m)
		its := owner.Run{Labels: w.Labels, Annotations: w.Annotations}
		foreign := !owner.Ours(w.Labels)
		switch {
		case owner.MayChange(caller, its, g.settings.Foreign), foreign && m.ended:
		case foreign && owner.MaySee(caller, its, g.settings.Foreign):
			conflict = fault.New(fault.Conflict, "the project %s has an unfinished Workflow, %s, that runhook did not make: end it, or let cluster.foreign of the config be all", project, w.Name)
		default:
			conflict = fault.New(fault.Conflict, "the project %s is somebody else's: choose another name", project)
		}
	})
	if err != nil {
		return nil, err
	}
	return all, conflict
}

// endOlder ends what the new revision replaces. They are listed after it was
// created: another revision may have come meanwhile. They are cancelled and not
// stopped, since the last step of a project deletes what other revisions have
// made: an older one must not come to it.
func (g generator) endOlder(ctx context.Context, caller function.Caller, project, revision string) error {
	all, err := g.workflows(ctx, caller, project)
	if err != nil {
		return err
	}
	for _, name := range replaced(all, revision) {
		request, err := json.Marshal(map[string]string{"run": name})
		if err != nil {
			return err
		}
		if _, err := g.cancel.Handle(ctx, function.Call{Caller: caller, Body: request}); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}
