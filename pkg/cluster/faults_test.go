package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/runhook/runhook/pkg/fault"
)

func TestFaultOf(t *testing.T) {
	workflows := schema.GroupResource{Group: "argoproj.io", Resource: "workflows"}
	for name, tc := range map[string]struct {
		err  error
		want fault.Kind
	}{
		"missing":            {apierrors.NewNotFound(workflows, "a"), fault.NotFound},
		"taken":              {apierrors.NewAlreadyExists(workflows, "a"), fault.Conflict},
		"changed meanwhile":  {apierrors.NewConflict(workflows, "a", errors.New("x")), fault.Conflict},
		"bad request":        {apierrors.NewBadRequest("unknown field"), fault.Invalid},
		"too large":          {apierrors.NewRequestEntityTooLargeError("etcd"), fault.Invalid},
		"quota":              {apierrors.NewForbidden(workflows, "a", errors.New("exceeded quota")), fault.Conflict},
		"account unknown":    {apierrors.NewUnauthorized("token expired"), fault.Unavailable},
		"busy":               {apierrors.NewTooManyRequests("wait", 7), fault.Unavailable},
		"webhook away":       {apierrors.NewInternalError(errors.New("failed calling webhook")), fault.Unavailable},
		"leader lost":        {apierrors.NewServerTimeout(workflows, "create", 1), fault.Unavailable},
		"proxy in between":   {apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", workflows, "a", "", 0, true), fault.Unavailable},
		"connection refused": {&url.Error{Op: "Get", URL: "https://127.0.0.1:1", Err: syscall.ECONNREFUSED}, fault.Unavailable},
		"deadline":           {context.DeadlineExceeded, fault.Unavailable},
		"caller went away":   {context.Canceled, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			got := faultOf(tc.err, "run a")
			if fault.KindOf(got) != tc.want {
				t.Errorf("got %s (%v), want %s", fault.KindOf(got), got, tc.want)
			}
			if !errors.Is(got, tc.err) {
				t.Error("the cause is lost")
			}
		})
	}
	if faultOf(nil, "x") != nil {
		t.Error("nil is no fault")
	}
}

func TestFaultOfKeepsFieldsAndDelay(t *testing.T) {
	kind := schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}
	invalid := apierrors.NewInvalid(kind, "a", field.ErrorList{field.Required(field.NewPath("spec", "templates"), "needed")})
	got := fault.From(faultOf(invalid, "workflow a"))
	if got.Kind != fault.Invalid || len(got.Problems) != 1 || got.Problems[0].Path != "spec.templates" {
		t.Errorf("got %+v", got)
	}
	busy := fault.From(faultOf(apierrors.NewTooManyRequests("wait", 7), "run a"))
	if busy.RetryAfter != 7*time.Second {
		t.Errorf("RetryAfter = %s, want what the API server asked for", busy.RetryAfter)
	}
	if got := faultOf(&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonUnknown, Code: 500}}, "x"); fault.KindOf(got) != fault.Unavailable {
		t.Errorf("an unknown status is %s", fault.KindOf(got))
	}
}
