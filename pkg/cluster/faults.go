package cluster

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
)

// retryAfter is what a caller is told to wait when the cluster says nothing:
// an API server that restarts is back within seconds.
const retryAfter = 2 * time.Second

// faultOf says what an error of the API server means to a caller. `what` names
// the thing that was read or written.
func faultOf(err error, what string) error {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return away(err, what)
	}
	switch reason := apierrors.ReasonForError(err); {
	case reason == metav1.StatusReasonNotFound:
		return fault.Wrap(fault.NotFound, err, "%s does not exist", what)
	case reason == metav1.StatusReasonAlreadyExists:
		return fault.Wrap(fault.Conflict, err, "%s exists already", what)
	case reason == metav1.StatusReasonConflict:
		return fault.Wrap(fault.Conflict, err, "%s was changed by somebody else at the same time", what)
	case reason == metav1.StatusReasonInvalid, reason == metav1.StatusReasonBadRequest:
		return refused(err, status.Status(), what)
	case reason == metav1.StatusReasonRequestEntityTooLarge:
		return fault.Wrap(fault.Invalid, err, "%s is larger than the cluster takes", what)
	case reason == metav1.StatusReasonUnauthorized:
		// Not the caller's mistake: who retries must not drop what it holds.
		f := fault.Wrap(fault.Unavailable, err, "the cluster does not know runhook's own account; see its ServiceAccount or kubeconfig")
		f.RetryAfter = retryAfter
		return f
	case reason == metav1.StatusReasonForbidden:
		// A mistake of the deployment, not of the caller; but quota and
		// admission refuse with Forbidden too, and say why.
		return fault.Wrap(fault.Conflict, err, "the cluster forbids %s: %s", what, status.Status().Message)
	default:
		return away(err, what)
	}
}

// refused passes on what the API server found wrong, field by field.
func refused(err error, status metav1.Status, what string) error {
	f := fault.Wrap(fault.Invalid, err, "the cluster refuses %s: %s", what, status.Message)
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			f.Problems = append(f.Problems, fault.Problem{Path: cause.Field, Detail: cause.Message})
		}
	}
	return f
}

func away(err error, what string) error {
	f := fault.Wrap(fault.Unavailable, err, "the cluster cannot be reached for %s", what)
	f.RetryAfter = retryAfter
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		f.RetryAfter = time.Duration(seconds) * time.Second
	}
	if errors.Is(err, context.Canceled) {
		f.Detail = "the call was given up while it waited for " + what
	}
	return f
}
