package hook

import (
	"encoding/json"
	"time"
)

// Accept proves a delivery and says what each route makes of it. Nothing is
// decoded before it is proven.
func (h *Hook) Accept(d Delivery, now time.Time) (Outcome, error) {
	if err := CheckHead(d.Header); err != nil {
		return Outcome{}, err
	}
	if p, ok := h.provider.(pinger); ok {
		if event, ok := p.Ping(d.Header); ok {
			return h.ping(event, d), nil
		}
	}
	if err := h.provider.Verify(d, now); err != nil {
		return Outcome{}, err
	}
	data, err := d.json()
	if err != nil {
		return Outcome{}, err
	}
	event, delivery := h.provider.Identify(d.Header)
	if delivery == "" {
		delivery = d.digest()
	}
	return h.outcome(event, delivery, data)
}

// Handed takes a payload from a caller of the functions push and alert, who
// has proven it otherwise.
func (h *Hook) Handed(event, delivery string, payload json.RawMessage) (Outcome, error) {
	if delivery == "" {
		delivery = Delivery{Body: payload}.digest()
	}
	return h.outcome(event, delivery, payload)
}

func (h *Hook) outcome(event, delivery string, data []byte) (Outcome, error) {
	payload, err := parseObject(data)
	if err != nil {
		return Outcome{}, err
	}
	events, err := h.provider.Decode(event, payload)
	if err != nil {
		return Outcome{}, err
	}
	for i := range events {
		events[i].Provider, events[i].Delivery = h.kind, delivery
		if events[i].Name == "" {
			events[i].Name = event
		}
	}
	out := Outcome{Proven: true, Events: events, Decisions: h.decide(events, payload)}
	if h.kind == alertmanagerName {
		cut, _ := payload.number("truncatedAlerts")
		out.Truncated = int(max(cut, 0))
	}
	return out, nil
}

// ping answers an unsigned ping. Its body is not looked at: a push that wears
// the ping's header does nothing either.
func (h *Hook) ping(name string, d Delivery) Outcome {
	e := newEvent(Ping)
	_, delivery := h.provider.Identify(d.Header)
	if delivery == "" {
		delivery = d.digest()
	}
	e.Provider, e.Name, e.Delivery = h.kind, name, delivery
	out := Outcome{Events: []Event{e}, Decisions: []Decision{}}
	for i := range h.routes {
		out.Decisions = append(out.Decisions, Decision{Route: h.routes[i].label, Ignored: IgnoredPing})
	}
	return out
}
