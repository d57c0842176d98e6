package hook

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/run"
	"github.com/runhook/runhook/pkg/secret"
)

// firing is the status of an alert that is not over.
const firing = "firing"

// alertmanager sends groups of alerts with a bearer token.
type alertmanager struct{ secrets []secret.Value }

func newAlertmanager(_ *Spec, secrets []secret.Value, _ *fault.List) Provider {
	return alertmanager{secrets}
}

func (a alertmanager) Verify(d Delivery, _ time.Time) error { return verifyBearer(d.Header, a.secrets) }

// Identify knows neither: Alertmanager sends the same group again and again.
func (alertmanager) Identify(http.Header) (event, delivery string) { return "", "" }

func (alertmanager) Default() Type { return Alert }

// Knows no names: an alert's name is a label, for `when`.
func (alertmanager) Knows(string) bool { return false }

func (alertmanager) Decode(_ string, payload object) ([]Event, error) {
	if version := payload.text("version"); version != "4" {
		return nil, fault.New(fault.Malformed, "only version 4 of Alertmanager's notifications is read")
	}
	alerts, ok := payload.list("alerts")
	if !ok {
		return nil, fault.New(fault.Malformed, "the notification has no list `alerts`")
	}
	group := payload.texts("groupLabels")
	events := make([]Event, 0, len(alerts))
	for i, entry := range alerts {
		alert, ok := entry.(map[string]any)
		if !ok {
			return nil, fault.New(fault.Malformed, "alerts[%d] is not an object", i)
		}
		events = append(events, alertOf(alert, group))
	}
	return events, nil
}

func alertOf(alert object, group map[string]string) Event {
	e := newEvent(Alert)
	e.Labels = alert.texts("labels")
	e.Annotations = alert.texts("annotations")
	e.Name = e.Labels["alertname"]
	e.Status = alert.text("status")
	e.StartsAt = alert.text("startsAt")
	e.EndsAt = alert.text("endsAt")
	e.Fingerprint = alert.text("fingerprint")
	e.Group = group
	if e.Fingerprint == "" {
		// Two alerts must not count as one because both lack it.
		labels, _ := json.Marshal(e.Labels) // texts always encode, keys sorted
		e.Fingerprint = run.Hash(string(labels))
	}
	return e
}
