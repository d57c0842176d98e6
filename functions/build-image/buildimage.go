// Package buildimage builds an image with BuildKit and pushes it. The Job on
// the cluster is all that remembers a build: the same request finds it again
// and says how far it is.
package buildimage

import (
	"context"
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/image/registry"
)

// Cluster is what build-image does on the cluster.
type Cluster interface {
	CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error)
	Job(ctx context.Context, name string) (*batchv1.Job, error)
	ResumeJob(ctx context.Context, name string, uid types.UID) (*batchv1.Job, error)
	CreateConfigMap(ctx context.Context, object *corev1.ConfigMap) error
	ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error)
	Pods(ctx context.Context, labels map[string]string) ([]corev1.Pod, error)
	LogTail(ctx context.Context, pod string, lines int64) ([]byte, error)
}

// Registry is what build-image asks whether an image has arrived.
type Registry interface {
	Digest(ctx context.Context, ref image.Reference) (digest string, exists bool, err error)
}

// Request names the tag to push to, and one context.
type Request struct {
	Ref       string      `json:"ref"`
	Files     image.Files `json:"files,omitempty"`
	Git       *image.Git  `json:"git,omitempty"`
	BuildArgs image.Args  `json:"buildArgs,omitempty"`
}

// Response says how far the build is.
type Response struct {
	// Build is its name: equal for equal requests.
	Build string      `json:"build"`
	Ref   string      `json:"ref"`
	Phase image.Phase `json:"phase"`
	// Digest is what was pushed; empty until then.
	Digest string `json:"digest"`
	// Log is the end of the log of a build that failed.
	Log string `json:"log"`
	// Message says what the log does not.
	Message string `json:"message,omitempty"`
}

// New makes the function.
func New(cluster Cluster, asked Registry, settings image.Settings) function.Function {
	b := builder{cluster, asked, settings}
	return function.Function{
		Name:    "build-image",
		Summary: "builds an image with BuildKit and pushes it, or says how far that is",
		Access: append(registry.LoginAccess(settings.Registry),
			function.Access{Group: "batch", Resource: "jobs", Verbs: []string{"create", "get", "patch"}},
			function.Access{Resource: "configmaps", Verbs: []string{"create", "get"}},
			function.Access{Resource: "pods", Verbs: []string{"list"}},
			function.Access{Resource: "pods/log", Verbs: []string{"get"}},
		),
		Request:  Request{},
		Response: Response{},
		Check: function.Checked(func(request Request) error {
			_, err := b.check(request)
			return err
		}),
		Handle: function.Typed(b.handle),
	}
}

type builder struct {
	cluster  Cluster
	registry Registry
	settings image.Settings
}

func (b builder) handle(ctx context.Context, call function.Call, request Request) (function.Response, error) {
	build, err := b.check(request)
	if err != nil {
		return function.Response{}, err
	}
	if !call.Caller.MayPush(build.Ref.Repository()) {
		return function.Response{}, fault.New(fault.Forbidden, "the caller %s may not push to %s", call.Caller.Name, build.Ref.Repository())
	}
	job, err := b.start(ctx, build, call.Caller.Name)
	if err != nil {
		return function.Response{}, err
	}
	progress, log, err := b.progress(ctx, job, build)
	if err != nil {
		return function.Response{}, err
	}
	response := function.Response{Status: http.StatusAccepted, Body: Response{
		Build: job.Name, Ref: request.Ref, Phase: progress.Phase, Digest: progress.Digest,
		Log: log, Message: progress.Message,
	}}
	if progress.Phase.Ended() {
		response.Status = http.StatusOK
	}
	return response, nil
}

// check tells every mistake of a request at once.
func (b builder) check(request Request) (image.Build, error) {
	var mistakes fault.List
	ref, err := b.settings.Registry.Parse(request.Ref)
	if err != nil {
		mistakes.Add("ref", "%s", fault.From(err).Detail)
	}
	build := image.Build{Ref: ref, Files: request.Files, Git: request.Git, Args: request.BuildArgs}
	build.Check(b.settings.Hosts, &mistakes)
	return build, mistakes.Err(fault.Invalid, "the image cannot be built")
}
