// Package hasimage says whether the cluster's registry has an image.
package hasimage

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/image/registry"
	"github.com/runhook/runhook/pkg/strict"
)

// Registry is what has-image asks.
type Registry interface {
	Digest(ctx context.Context, ref image.Reference) (digest string, exists bool, err error)
}

// Request names the image.
type Request struct {
	Ref string `json:"ref"`
}

// Response says whether it is there.
type Response struct {
	Ref    string `json:"ref"`
	Exists bool   `json:"exists"`
	// Digest is what the reference means now; empty when it is not there.
	Digest string `json:"digest"`
}

// New makes the function.
func New(asked Registry, settings image.Registry) function.Function {
	return function.Function{
		Name:     "has-image",
		Summary:  "says whether the cluster's registry has an image, and its digest",
		Access:   registry.LoginAccess(settings),
		Reads:    true,
		Request:  Request{},
		Response: Response{},
		Check: func(body json.RawMessage) error {
			var request Request
			if err := strict.JSON(body, &request); err != nil {
				return err
			}
			_, err := check(request, settings)
			return err
		},
		Handle: function.Typed(func(ctx context.Context, _ function.Call, request Request) (function.Response, error) {
			ref, err := check(request, settings)
			if err != nil {
				return function.Response{}, err
			}
			digest, exists, err := asked.Digest(ctx, ref)
			if err != nil {
				return function.Response{}, err
			}
			return function.Response{Status: http.StatusOK, Body: Response{Ref: request.Ref, Exists: exists, Digest: digest}}, nil
		}),
	}
}

func check(request Request, settings image.Registry) (image.Reference, error) {
	ref, err := settings.Parse(request.Ref)
	var mistakes fault.List
	if err != nil {
		mistakes.Add("ref", "%s", fault.From(err).Detail)
	}
	return ref, mistakes.Err(fault.Invalid, "the image cannot be asked for")
}
