// Package alert hands a notification of Alertmanager, which a Sensor has taken
// in, to the routes of a hook: as if it had been delivered there.
package alert

import (
	"context"
	"encoding/json"

	"github.com/runhook/runhook/functions/push"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/once"
)

// Request is a notification as Alertmanager sent it.
type Request struct {
	// Hook is the path of the hook whose routes are tried.
	Hook    string          `json:"hook"`
	Payload json.RawMessage `json:"payload"`
}

// New makes the function. Hooks are found by their path.
func New(hooks map[string]*hook.Hook, invoker hook.Invoker) function.Function {
	return function.Function{
		Name:     "alert",
		Summary:  "hands a notification of Alertmanager that a Sensor has taken in to the routes of a hook",
		Access:   []function.Access{once.Access, SelectAccess},
		Request:  Request{},
		Response: hook.Answer{},
		Handle: function.Typed(func(ctx context.Context, call function.Call, request Request) (function.Response, error) {
			return push.Through(ctx, hooks, invoker, call, push.Request{Hook: request.Hook, Payload: request.Payload})
		}),
	}
}
