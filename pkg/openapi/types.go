package openapi

import (
	"encoding/json"
	"reflect"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/status"
)

// known are the types whose JSON their Go kind does not tell.
var known = map[reflect.Type]func() *Schema{
	reflect.TypeFor[json.RawMessage](): func() *Schema { return &Schema{} },
	reflect.TypeFor[time.Time]():       func() *Schema { return &Schema{Type: "string", Format: "date-time"} },

	reflect.TypeFor[run.Quantity](): func() *Schema {
		return &Schema{Type: []string{"string", "number"}, Description: "A Kubernetes quantity, such as 500m or 8Gi."}
	},
	reflect.TypeFor[run.Duration](): func() *Schema {
		return &Schema{Type: "string", Description: "A duration, such as 10s or 24h."}
	},
	reflect.TypeFor[run.EnvValue](): func() *Schema {
		return &Schema{Description: "Text, or a key of a Secret.", OneOf: []*Schema{{Type: "string"}, object("secret", "key")}}
	},
	reflect.TypeFor[image.File](): func() *Schema {
		return &Schema{Description: "Text, or base64.", OneOf: []*Schema{{Type: "string"}, object("base64")}}
	},
	reflect.TypeFor[corev1.Volume](): func() *Schema {
		return &Schema{Type: "object", Description: "A volume as a pod of Kubernetes has it: a name and one kind."}
	},
	reflect.TypeFor[corev1.PodCondition](): func() *Schema {
		return &Schema{Type: "object", Description: "A condition as a pod of Kubernetes has it."}
	},
	reflect.TypeFor[event.Event](): func() *Schema {
		return &Schema{Type: "object", Description: "A CloudEvent in its JSON form."}
	},
	reflect.TypeFor[wfv1.Workflow](): func() *Schema {
		return &Schema{Type: "object", Description: "A Workflow of Argo."}
	},

	reflect.TypeFor[status.Phase](): func() *Schema { return oneOf(status.Phases) },
	reflect.TypeFor[image.Phase]():  func() *Schema { return oneOf(image.Phases) },
	reflect.TypeFor[hook.Reason]():  func() *Schema { return oneOf(hook.Reasons) },
	reflect.TypeFor[fault.Kind]():   func() *Schema { return oneOf(fault.Kinds) },
	reflect.TypeFor[cause.Cause](): func() *Schema {
		s := oneOf(cause.All)
		s.Type, s.Enum = []string{"string", "null"}, append(s.Enum, nil)
		return s
	},
}

// oneOf is a closed set of texts.
func oneOf[Text ~string](set []Text) *Schema {
	s := &Schema{Type: "string"}
	for _, text := range set {
		s.Enum = append(s.Enum, text)
	}
	return s
}

// object has texts under some keys, and no other key.
func object(keys ...string) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, Required: keys, AdditionalProperties: false}
	for _, key := range keys {
		s.Properties[key] = &Schema{Type: "string"}
	}
	return s
}
