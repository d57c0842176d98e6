package hook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

func notification(body string, lines ...string) hook.Delivery {
	return hook.Delivery{Header: headers(append(lines, "Authorization: Bearer "+lamp)...), Body: []byte(body)}
}

const twoAlerts = `{"version":"4","status":"firing","truncatedAlerts":1,"groupKey":"{}:{queue=\"research\"}","groupLabels":{"queue":"research"},
	"notification_reason":"new","routeLabels":{},"receiver":"runhook","externalURL":"http://alerts.acme.example",
	"alerts":[{"status":"firing","labels":{"alertname":"Preempted","queue":"research"},"annotations":{"summary":"s"},"startsAt":"2026-01-01T00:00:00Z","endsAt":"0001-01-01T00:00:00Z","fingerprint":"a1","values":{"a":1}},
	{"status":"resolved","labels":{"alertname":"Preempted","queue":"batch"},"annotations":{},"startsAt":"2026-01-01T00:00:00Z","endsAt":"2026-01-01T01:00:00Z","fingerprint":"b2"}]}`

func TestAlertmanager(t *testing.T) {
	h := compile(t, "alertmanager", route(nil))
	out := accept(t, h, notification(twoAlerts))
	want := hook.Event{
		Provider: "alertmanager", Type: hook.Alert, Name: "Preempted", Delivery: out.Events[0].Delivery, Paths: []string{},
		Labels: map[string]string{"alertname": "Preempted", "queue": "research"}, Annotations: map[string]string{"summary": "s"},
		Status: "firing", StartsAt: "2026-01-01T00:00:00Z", EndsAt: "0001-01-01T00:00:00Z", Fingerprint: "a1",
		Group: map[string]string{"queue": "research"},
	}
	if diff := cmp.Diff(want, out.Events[0]); diff != "" {
		t.Error(diff)
	}
	if out.Truncated != 1 {
		t.Errorf("%d alerts cut", out.Truncated)
	}
	if a, b := out.Decisions[0], out.Decisions[1]; a.Call != "submit" || b.Ignored != hook.IgnoredResolved || b.Event != 1 {
		t.Errorf("decisions %+v", out.Decisions)
	}
}

// One key for each (route, fingerprint, startsAt), whatever else a resend has.
func TestAlertKeys(t *testing.T) {
	h := compile(t, "alertmanager", route(nil), hook.RouteSpec{Name: "other", Function: "cancel"})
	one := func(alert string) []hook.Decision {
		return accept(t, h, notification(`{"version":"4","alerts":[`+alert+`]}`)).Decisions
	}
	first := one(`{"status":"firing","labels":{"a":"1"},"startsAt":"T","fingerprint":"a1"}`)
	again := one(`{"status":"firing","labels":{"a":"1"},"startsAt":"T","fingerprint":"a1","annotations":{"value":"changed"}}`)
	later := one(`{"status":"firing","labels":{"a":"1"},"startsAt":"U","fingerprint":"a1"}`)
	another := one(`{"status":"firing","labels":{"a":"2"},"startsAt":"T","fingerprint":"a2"}`)
	bare := one(`{"status":"firing","labels":{"a":"1"},"startsAt":"T"}`)
	bare2 := one(`{"status":"firing","labels":{"a":"2"},"startsAt":"T"}`)
	if first[0].Key != again[0].Key {
		t.Error("a resend has another key")
	}
	seen := map[string]bool{}
	for _, d := range [][]hook.Decision{first, later, another, bare, bare2} {
		for _, d := range d {
			if seen[d.Key] {
				t.Errorf("key twice: %+v", d)
			}
			seen[d.Key] = true
		}
	}
}

func TestAlertmanagerRefusals(t *testing.T) {
	h := compile(t, "alertmanager", route(nil))
	for body, want := range map[string]fault.Kind{
		`{"version":"5","alerts":[]}`:     fault.Malformed,
		`{"alerts":[]}`:                   fault.Malformed,
		`{"version":4,"alerts":[]}`:       fault.Malformed,
		`{"version":"4"}`:                 fault.Malformed,
		`{"version":"4","alerts":{}}`:     fault.Malformed,
		`{"version":"4","alerts":[1]}`:    fault.Malformed,
		`{"version":"4","alerts":[null]}`: fault.Malformed,
		`{"version":"4","alerts":[]}`:     "",
		`{"version":"4","status":"resolved","alerts":[{"status":"resolved"}]}`: "",
	} {
		out, err := h.Accept(notification(body), noon)
		wantKind(t, err, want)
		for _, d := range out.Decisions {
			if d.Call != "" {
				t.Errorf("%s calls %+v", body, d)
			}
		}
	}
}

func TestBearer(t *testing.T) {
	for name, tc := range map[string]struct {
		headers []string
		want    fault.Kind
	}{
		"right":          {[]string{"Authorization: Bearer " + lamp}, ""},
		"lower case":     {[]string{"Authorization: bearer " + lamp}, ""},
		"none":           {nil, fault.Unproven},
		"wrong":          {[]string{"Authorization: Bearer harbour-lamp-43"}, fault.Unproven},
		"no token":       {[]string{"Authorization: Bearer "}, fault.Unproven},
		"only scheme":    {[]string{"Authorization: Bearer"}, fault.Unproven},
		"basic":          {[]string{"Authorization: Basic " + lamp}, fault.Unproven},
		"token alone":    {[]string{"Authorization: " + lamp}, fault.Unproven},
		"twice":          {[]string{"Authorization: Bearer " + lamp, "Authorization: Bearer " + lamp}, fault.Unproven},
		"something more": {[]string{"Authorization: Bearer " + lamp + " x"}, fault.Unproven},
	} {
		for provider, body := range map[string]string{"bearer": `{}`, "alertmanager": `{"version":"4","alerts":[]}`} {
			t.Run(provider+" "+name, func(t *testing.T) {
				_, err := compile(t, provider, route(nil)).Accept(hook.Delivery{Header: headers(tc.headers...), Body: []byte(body)}, noon)
				wantKind(t, err, tc.want)
			})
		}
	}
}

// Without an id of the host, a delivery is known by its body.
func TestBearerDelivery(t *testing.T) {
	h := compile(t, "bearer", route(nil))
	first, again, other := decision(t, h, notification(`{"a":1}`)), decision(t, h, notification(`{"a":1}`)), decision(t, h, notification(`{"a":2}`))
	if first.Key != again.Key || first.Key == other.Key || len(first.Origin.Delivery) != 64 {
		t.Errorf("keys %s %s %s", first.Key, again.Key, other.Key)
	}
}

// Alertmanager drops a notification for ever on a 4xx.
func TestRefusalStatus(t *testing.T) {
	for provider, want := range map[string]int{"alertmanager": 503, "github": 429} {
		h := compile(t, provider, route(nil))
		if got := h.RefusalStatus(fault.TooMany); got != want {
			t.Errorf("%s: %d", provider, got)
		}
		if got := h.RefusalStatus(fault.Unproven); got != 401 {
			t.Errorf("%s: %d", provider, got)
		}
	}
}
